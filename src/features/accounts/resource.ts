/** The audience of every token of this server. */
export const audienceOf = (base: string): string => `${base}/mcp`

/**
 * Whether a `resource` parameter (RFC 8707) means this server. Clients write it with and without a trailing slash, at the
 * origin and at `/mcp`, and with the query of the address they were given: all are one audience.
 */
export function isOurResource(resource: string, base: string): boolean {
  if (resource.includes('#')) return false
  let url
  try {
    url = new URL(resource)
  } catch {
    return false
  }
  if (url.username || url.password) return false
  const path = url.pathname.replace(/\/+$/, '')
  return url.origin === base && (path === '' || path === '/mcp')
}
