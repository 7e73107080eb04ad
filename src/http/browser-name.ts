const BROWSERS: readonly [name: string, mark: RegExp][] = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]

const SYSTEMS: readonly [name: string, mark: RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

/**
 * `Firefox on Linux`: what a reader tells their sessions apart by, and no more than that of what a browser says of itself.
 * Undefined where it says nothing that is known.
 */
export function browserName(userAgent: string | undefined): string | undefined {
  const found = (among: typeof BROWSERS): string | undefined =>
    among.find(([, mark]) => mark.test(userAgent ?? ''))?.[0]
  const browser = found(BROWSERS)
  const system = found(SYSTEMS)
  return browser !== undefined && system !== undefined ? `${browser} on ${system}` : (browser ?? system)
}
