/** The users of the store (spec/store.md). Agents and executors have none. */
export const STORE_USERS = ['control', 'gate', 'gateway', 'reader'] as const;
export type StoreUser = (typeof STORE_USERS)[number];

/** Runs the server: settings, health, shutdown. It can touch no key, so it is no way around the others' rules. */
export const ADMIN_USER = 'admin';

/** One password for each user and for the administrator. */
export type StorePasswords = Readonly<Record<StoreUser | typeof ADMIN_USER, string>>;
