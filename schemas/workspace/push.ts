/** The last thing that an agent is asked before its workspace goes. */

/** The first line of it, by which a scripted agent knows it. */
export const PUSH_REQUEST = 'Push what you have now.';

/** @param seconds until the workspace is destroyed, whatever is said */
export function pushPrompt(seconds: number): string {
  return [
    PUSH_REQUEST,
    `This workspace is destroyed in ${Math.floor(seconds)} seconds. Commit everything that is worth keeping and push it to your branch. Submit nothing, begin nothing new, and stop.`,
  ].join('\n\n');
}
