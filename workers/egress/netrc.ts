/** Logins by host name, as pip and go read them from `.netrc`. */
export interface NetrcLogin {
  readonly login: string;
  readonly password: string;
}

export function readNetrc(text: string): Readonly<Record<string, NetrcLogin>> {
  const words = text.replace(/^\s*#.*$/gm, '').split(/\s+/);
  const found: Record<string, NetrcLogin> = {};
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] !== 'machine') continue;
    const host = words[at + 1] ?? '';
    const end = words.findIndex((word, index) => index > at + 1 && (word === 'machine' || word === 'default'));
    const own = words.slice(at + 2, end < 0 ? undefined : end);
    const valueOf = (key: string) => own[own.indexOf(key) + 1] ?? '';
    if (own.includes('login') && own.includes('password')) {
      found[host] = { login: valueOf('login'), password: valueOf('password') };
    }
  }
  return found;
}
