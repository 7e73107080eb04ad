import type { Letter } from '../../core/mail.ts'

// Every letter that the server sends: plain text, one link, nothing that tells anybody whether it was read.

type Words = Pick<Letter, 'subject' | 'text'>

const letter = (subject: string, ...paragraphs: string[]): Words => ({
  subject,
  text: `${paragraphs.join('\n\n')}\n`,
})

const NOT_YOU = 'If you did not ask for this, you can leave it.'

/** `host` is the server's, as readers know it. */
export const signUpLetter = (host: string, link: string): Words =>
  letter(
    `Your account at ${host}`,
    `Somebody, probably you, wants to have a reading library at ${host} with this address. To go on, open`,
    link,
    `within a day. ${NOT_YOU}`,
  )

export const knownReaderLetter = (host: string, link: string): Words =>
  letter(
    `Your account at ${host}`,
    `Somebody, probably you, wants to have a reading library at ${host} with this address. You have one already. To choose a new password for it, open`,
    link,
    `within an hour. ${NOT_YOU}`,
  )

export const invitationLetter = (host: string, inviter: string, link: string): Words =>
  letter(
    `An invitation to ${host}`,
    `${inviter} invites you to have a reading library of your own at ${host}. To accept, open`,
    link,
    'within seven days.',
  )

export const signInLetter = (host: string, link: string): Words =>
  letter(`Sign in at ${host}`, 'To sign in, open', link, `within an hour; it works once. ${NOT_YOU}`)

export const resetLetter = (host: string, link: string): Words =>
  letter(
    `Your password at ${host}`,
    'To choose a new password, open',
    link,
    `within an hour; it works once. ${NOT_YOU}`,
  )

export const confirmLetter = (host: string, link: string): Words =>
  letter(
    `Is this your address?`,
    `To confirm that this address is yours and use it at ${host}, open`,
    link,
    `within a day. ${NOT_YOU}`,
  )

export const movedLetter = (host: string, account: string): Words =>
  letter(
    `Your address at ${host} was changed`,
    'Your account has another e-mail address from now on, and this one signs nobody in any more. If that was not you, see whether you can still sign in at',
    account,
    'and tell whoever runs the server.',
  )

/** `way` as in `a passkey was added`. */
export const newWayLetter = (host: string, way: string, account: string): Words =>
  letter(
    `A new way to sign in at ${host}`,
    `${way} was added to your account. If that was not you, remove it at`,
    account,
    'and change your password.',
  )
