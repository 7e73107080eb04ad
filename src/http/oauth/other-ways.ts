import { passkeysWork } from '../../features/accounts/passkeys.ts'
import type { Exchange } from './endpoint.ts'
import { markup, type Markup } from './page.ts'
import { visitorField } from './visitor.ts'

export interface OtherWays {
  next: string
  /** What the person brings to become a reader. */
  invitation?: string
}

/** How else somebody may come in: by passkey, where the browser can, and by each provider. */
export function otherWays(exchange: Exchange, { next, invitation }: OtherWays): Markup {
  const { accounts } = exchange
  const field = visitorField(exchange)
  const carried = markup`${field}<input type="hidden" name="next" value="${next}">${
    invitation !== undefined && markup`<input type="hidden" name="invitation" value="${invitation}">`
  }`
  const providers = accounts.providers.map(
    ({ name, title }) => markup`<form class="ways" method="post" action="/sign-in/with/${name}">${carried}
<button>Continue with ${title}</button></form>`,
  )
  const passkey = markup`<form class="ways" method="post" action="/sign-in/passkey" hidden data-passkey="get" data-options="/sign-in/passkey/options">${carried}
<input type="hidden" name="credential" value=""><button>Sign in with a passkey</button><p role="status"></p></form>`
  return markup`${passkeysWork(accounts) && invitation === undefined && passkey}${providers}`
}
