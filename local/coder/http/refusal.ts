/** What the server says when it does not do what was asked, in its own words. One sentence in one place. */

export interface Validation {
  readonly field: string;
  readonly detail: string;
}

export interface RefusalBody {
  readonly message: string;
  readonly detail?: string;
  readonly validations?: readonly Validation[];
}

/** Thrown by a route; becomes the answer. `body` null answers without one. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: RefusalBody | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: RefusalBody | null, headers: Readonly<Record<string, string>> = {}) {
    super(body?.message ?? `HTTP ${status}`);
    this.name = 'Refusal';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export const refuse = (status: number, message: string, detail?: string): Refusal =>
  new Refusal(status, { message, ...(detail === undefined ? {} : { detail }) });

/** A 400, or what `status` says, that names fields. */
export const refuseFields = (message: string, validations: readonly Validation[], status = 400): Refusal =>
  new Refusal(status, { message, validations });

/** One tag of the request's validation did not hold. */
export const refuseTag = (...fields: readonly (readonly [field: string, tag: string, value: string])[]): Refusal =>
  refuseFields(
    'Validation failed.',
    fields.map(([field, tag, value]) => ({
      field,
      detail: `Validation failed for tag "${tag}" with value: "${value}"`,
    })),
  );

export const NOT_FOUND = 'Resource not found or you do not have access to this resource';

/** Absent or not visible: the server does not tell which. */
export const notFound = (): Refusal => refuse(404, NOT_FOUND);

const NO_PERMISSION =
  "You don't have permission to view this content. If you believe this is a mistake, please contact your administrator or try signing in with different credentials.";

export const forbidden = (message = 'Forbidden.'): Refusal => refuse(403, message, NO_PERMISSION);

export const nameTaken = (message: string): Refusal =>
  refuseFields(message, [{ field: 'name', detail: 'This value is already in use and should be unique.' }], 409);

/** What the server answers when its database refuses a second of what must be one. */
export const duplicateKey = (constraint: string): string =>
  `pq: duplicate key value violates unique constraint "${constraint}"`;

/** No answer: the connection is cut. */
export const cutConnection = (): Refusal => new Refusal(0, null);
