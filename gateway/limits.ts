/** The bounds a gateway works within. Every one is finite: bad input is bounded in time and memory (invariant 19). */
import { DISK_RESERVE_BYTES } from '../activities/git/disk.ts';

export interface GatewayLimits {
  /** Largest JSON body, bytes. */
  readonly jsonBytes: number;
  /** Largest uploaded bundle of a repository, bytes, and what stays free of the disk that it is written to. */
  readonly bundleBytes: number;
  readonly diskReserveBytes: number;
  /** Milliseconds in which an operator's upload of a bundle must have come: git packs while it is sent. */
  readonly importMs: number;
  /** Milliseconds in which a new connection must show what it speaks. */
  readonly firstBytesMs: number;
  /** Milliseconds in which a gRPC connection must have made a call with a genuine bearer. */
  readonly firstCallMs: number;
  /** Milliseconds in which a request's headers, and then the whole request, must have come. */
  readonly headersMs: number;
  readonly requestMs: number;
  /**
   * Open connections over which no genuine bearer came yet, of TCP and of the unix socket each. One more ends the oldest of
   * them: whoever only holds connections keeps nobody out.
   */
  readonly unprovenConnections: number;
  /** Open connections over which one came, of TCP and of the unix socket each. One more ends the oldest of whoever holds most. */
  readonly provenConnections: number;
  /**
   * Those of one credential: of TCP, where subscribers of one holder are many, and of the unix socket, where only workspaces
   * come from. One more ends its own oldest.
   */
  readonly credentialConnections: number;
  readonly workspaceConnections: number;
  /** Polls one credential may have parked at once. The SDK keeps one for each free slot, ten at most. */
  readonly parkedPolls: number;
  /** Calls of one credential in a second, and how many it may save up. */
  readonly callsPerSecond: number;
  readonly callsBurst: number;
  /** Different submissions of one workspace for one revision of what it is asked; one is under way at a time. */
  readonly submissionsPerRevision: number;
  /** Bytes of one credential in a second, and the burst. */
  readonly bytesPerSecond: number;
  readonly bytesBurst: number;
  /** Claim exchanges over one connection in a second, and the burst: a code cannot be guessed, but guessing must cost. */
  readonly exchangesPerSecond: number;
  readonly exchangesBurst: number;
  /** Largest message through the door, bytes. */
  readonly rpcBytes: number;
  /**
   * Git children at once, of one credential (as many only while the others have few: `policies/places.ts`) and in all; seconds
   * one may live.
   */
  readonly gitPerCredential: number;
  readonly gitTotal: number;
  readonly gitSeconds: number;
  /** Milliseconds that its answer may be read after that, and between two looks at whether it may still be given. */
  readonly gitReadOnMs: number;
  readonly gitLookMs: number;
  /** Calls of git over HTTP of one credential in a second, and how many it may save up: a fetch is two, a push three. */
  readonly gitCallsPerSecond: number;
  readonly gitCallsBurst: number;
  /** Largest request body of a fetch (the list of wants and haves), bytes. */
  readonly gitRequestBytes: number;
  /**
   * Largest pack of one push, bytes; how much may have come into a pair's repository besides its imports before a push is
   * refused; and in how many packs, before they are packed together.
   */
  readonly gitPushBytes: number;
  readonly gitRepositoryBytes: number;
  readonly gitRepositoryPacks: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  jsonBytes: 256 * 1024,
  bundleBytes: 32 * 1024 * 1024 * 1024,
  diskReserveBytes: DISK_RESERVE_BYTES,
  importMs: 90 * 60_000,
  firstBytesMs: 5_000,
  firstCallMs: 10_000,
  headersMs: 10_000,
  requestMs: 60_000,
  unprovenConnections: 2_048,
  provenConnections: 2_048,
  credentialConnections: 1_024,
  workspaceConnections: 64,
  parkedPolls: 16,
  callsPerSecond: 500,
  callsBurst: 1_000,
  submissionsPerRevision: 20,
  bytesPerSecond: 4 * 1024 * 1024,
  bytesBurst: 16 * 1024 * 1024,
  exchangesPerSecond: 1,
  exchangesBurst: 10,
  rpcBytes: 4 * 1024 * 1024,
  gitPerCredential: 4,
  gitTotal: 32,
  gitSeconds: 120,
  gitReadOnMs: 5_000,
  gitLookMs: 5_000,
  gitCallsPerSecond: 2,
  gitCallsBurst: 60,
  gitRequestBytes: 4 * 1024 * 1024,
  gitPushBytes: 256 * 1024 * 1024,
  gitRepositoryBytes: 8 * 1024 * 1024 * 1024,
  gitRepositoryPacks: 50,
};
