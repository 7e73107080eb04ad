import { Failure } from '../../core/failure.ts'

/** What every tool that needs the reader's account answers while this library belongs to none. */
export const notLoggedIn = (): Failure =>
  new Failure('not_logged_in', 'This library is not connected to an account.', {
    hint: 'Everything on this computer works without one. To capture a page here and now, use save_url.',
  })
