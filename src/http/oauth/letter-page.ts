import type { ServerResponse } from 'node:http'
import { markup, sendPage } from './page.ts'

/** What everybody sees who asked for a letter, whether one was sent or not. */
export const sendLookIntoMail = (res: ServerResponse, what: string): void =>
  sendPage(
    res,
    'Look into your mail',
    markup`<p>If everything fits, a letter is on its way to you. ${what}</p>
<p><small>Nothing there after a few minutes? See whether it was taken for spam, and whether the address was right.</small></p>`,
  )
