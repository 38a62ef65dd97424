/** Placeholder until the servers of the system tests are started here. */
export function setup(): void {}
