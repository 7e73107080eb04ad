import { afterAll, beforeAll, expect, it } from 'vitest'
import { openMailbox, type Mailbox } from '../../test/oauth/mailbox.ts'
import { createMail } from './mail.ts'

let mailbox: Mailbox
beforeAll(async () => {
  mailbox = await openMailbox()
})
afterAll(() => mailbox.stop())

it('brings a plain letter, and says that a program wrote it', async () => {
  const mail = createMail({ url: mailbox.url, from: 'Books <books@example.org>' })
  const text = `Grüße\n\nhttps://books.example.org/sign-in?link=${'x'.repeat(90)}\n`
  await mail.send({ to: 'ada@example.org', subject: 'Guten Tag, Ada', text })
  await mail.close()
  const letter = await mailbox.letterTo('ada@example.org')
  expect(letter).toMatchObject({ from: 'books@example.org', subject: 'Guten Tag, Ada', text })
  expect(letter.headers).toMatch(/^from: Books <books@example\.org>$/im)
  expect(letter.headers).toMatch(/^content-type: text\/plain; charset=utf-8$/im)
  expect(letter.headers).toMatch(/^auto-submitted: auto-generated$/im)
})

it('has one recipient, whatever the address holds', async () => {
  const mail = createMail({ url: mailbox.url, from: 'books@example.org' })
  const sent = mail.send({ to: 'one@example.org,two@example.org', subject: 'x', text: 'x' })
  await sent.catch(() => {})
  await mail.close()
  expect(mailbox.letters.flatMap(({ to }) => to)).not.toContain('two@example.org')
})

it('fails where the mail server refuses or is not there, without the letter in what it says', async () => {
  mailbox.refuse('no such user here')
  const mail = createMail({ url: mailbox.url, from: 'books@example.org' })
  const letter = { to: 'ada@example.org', subject: 'x', text: 'the secret' }
  const failure = await mail.send(letter).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    code: 'unavailable',
    hint: expect.stringContaining('COMMONPLACE_SMTP_URL'),
  })
  mailbox.refuse(undefined)
  await mail.send(letter)
  await mail.close()
  const nobody = createMail({ url: 'smtp://127.0.0.1:1', from: 'books@example.org' })
  await expect(nobody.send(letter)).rejects.toMatchObject({ code: 'unavailable' })
  await nobody.close()
})

it('asks nobody before the first letter', async () => {
  await createMail({ url: 'smtp://127.0.0.1:1', from: 'books@example.org' }).close()
})
