const MAX_COOKIES = 30

/**
 * Cookies for the length of one fetch, sent back to the very host that set them: some sites redirect to themselves until
 * they see their own cookie again. Nothing outlives the fetch.
 */
export class CookieJar {
  readonly #byOrigin = new Map<string, Map<string, string>>()

  keep(url: URL, lines: string | string[] | undefined): void {
    const list = lines === undefined ? [] : Array.isArray(lines) ? lines : [lines]
    for (const line of list) {
      const pair =
        /^\s*([!#$%&'*+\-.^_`|~\w]+)=([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e"]{0,2048})\s*(?:;|$)/.exec(
          line,
        )
      if (!pair?.[1]) continue
      const cookies = this.#byOrigin.get(url.origin) ?? new Map<string, string>()
      this.#byOrigin.set(url.origin, cookies)
      if (cookies.size < MAX_COOKIES || cookies.has(pair[1])) cookies.set(pair[1], pair[2] ?? '')
    }
  }

  headerFor(url: URL): string | undefined {
    const cookies = this.#byOrigin.get(url.origin)
    if (!cookies) return undefined
    const header = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return header.length <= 8192 ? header : undefined
  }
}
