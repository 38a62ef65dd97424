import { read, run, say } from './say.mjs';

/** Commands are verified inside bubblewrap. Without it everything else works, and `portcullis doctor` says what does not. */
export function ensureSandbox() {
  if (process.platform !== 'linux' || read('bwrap', ['--version']) !== null) return;
  if (process.getuid?.() !== 0 || read('apt-get', ['--version']) === null) {
    say(
      'bubblewrap is missing, so no command can be run in a sandbox. Install the package "bubblewrap" of your system.',
    );
    return;
  }
  say('installing bubblewrap (apt-get) …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'bubblewrap'], { env });
  // A fresh image has no package lists; they are fetched only when the first try shows that.
  if (install() === 0 || (run('apt-get', ['update', '-q'], { env }) === 0 && install() === 0)) return;
  say('bubblewrap could not be installed, so no command can be run in a sandbox; `portcullis doctor` says more.');
}
