import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

// Plain HTML under a strict policy. No script on the way a reader allows an assistant something; where they sign in, one file of
// ours, for passkeys alone.

const STYLE = `:root{color-scheme:light dark;accent-color:#2f6f5e}
body{font:1rem/1.5 system-ui,sans-serif;margin:0;padding:2rem 1rem;background:Canvas;color:CanvasText}
main{max-width:36rem;margin:0 auto}
h1{font-size:1.5rem;line-height:1.25;text-wrap:balance}
h2{font-size:1.1rem;margin-top:2rem}
fieldset{border:1px solid color-mix(in srgb,CanvasText 25%,Canvas);border-radius:.5rem;margin:1rem 0;padding:.25rem 1rem .75rem}
legend{font-weight:600;padding:0 .4rem}
label{display:block;padding:.3rem 0}
label.tick{display:grid;grid-template-columns:auto 1fr;gap:.25rem .6rem;align-items:baseline}
input:not([type=checkbox]),textarea{display:block;box-sizing:border-box;width:100%;font:inherit;padding:.5rem;margin-top:.2rem}
small{opacity:.75}
code{overflow-wrap:anywhere}
button{font:inherit;padding:.6rem 1.4rem;min-width:8rem;border:1px solid currentColor;border-radius:.5rem;background:Canvas;color:CanvasText;cursor:pointer}
button:hover{background:color-mix(in srgb,CanvasText 8%,Canvas)}
:focus-visible{outline:3px solid #2f6f5e;outline-offset:2px}
form.choose:not(:has([name=scope]:checked)) button[value=allow]{opacity:.4;cursor:not-allowed}
p.choices{display:flex;gap:1rem;flex-wrap:wrap}
li{margin:.75rem 0}
li form{display:inline-block;margin:.25rem .5rem 0 0}
[hidden]{display:none}
ul{padding-left:1.2rem}
[role=alert]{border-left:4px solid #b3261e;padding-left:.75rem}
[role=status]{min-height:1.5rem}
form.ways button{width:100%;margin:.25rem 0}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Markup that is safe to put into a page as it is. */
export interface Markup {
  readonly html: string
}

/** A template whose values are escaped unless they are markup themselves; lists are joined, undefined and false are nothing. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return { html: parts.map((part, n) => part + (n < values.length ? written(values[n]) : '')).join('') }
}

type Value = string | number | Markup | readonly Markup[] | undefined | false

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return escape(value)
  if (typeof value === 'number') return String(value)
  if ('html' in value) return value.html
  return value.map((one) => one.html).join('')
}

const escape = (text: string): string => text.replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`)

export interface PageOptions {
  status?: number
  /** Where a form of the page may lead beside ourselves: a client's origin or scheme. */
  formTarget?: string
  /** Path of the one script of ours that the page runs. */
  script?: string
  headers?: Record<string, string>
}

/** A page that was written but not sent. */
export interface Page {
  html: string
  headers: Record<string, string>
}

/**
 * Writes a page. The policy forbids frames around it, forms to anywhere but us and the one client it speaks of, and scripts, but
 * for the file of ours that is named.
 * `Referrer-Policy` is `same-origin`: with `no-referrer` browsers send `Origin: null` with our own forms.
 */
export function writePage(
  title: string,
  body: Markup,
  { formTarget, script }: Pick<PageOptions, 'formTarget' | 'script'> = {},
): Page {
  const target = formTarget === undefined ? '' : ` ${formTarget}`
  const running = script === undefined ? '' : ` script-src 'self'; connect-src 'self';`
  const { html } = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Commonplace</title><style>${{ html: STYLE }}</style>${script !== undefined && markup`<script defer src="${script}"></script>`}</head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}';${running} form-action 'self'${target}; base-uri 'none'; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  }
  return { html, headers }
}

/**
 * Sends a page. It is never compressed: beside what a caller sends, pages hold what nobody else may know, and the length of a
 * compressed answer would tell of it (BREACH).
 */
export function sendPage(
  res: ServerResponse,
  title: string,
  body: Markup,
  { status = 200, headers = {}, ...options }: PageOptions = {},
): void {
  const page = writePage(title, body, options)
  res.writeHead(status, { ...page.headers, ...headers })
  res.end(page.html)
}
