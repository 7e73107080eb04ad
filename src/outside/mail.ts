import type { Transporter } from 'nodemailer'
import { Failure } from '../core/failure.ts'
import type { Mail } from '../core/mail.ts'

export interface SmtpOptions {
  /** `smtp://user:password@host:587`, which turns to TLS where the server can, or `smtps://…`. */
  url: string
  /** `books@example.org` or `Books <books@example.org>`. */
  from: string
}

const PATIENCE_MS = 20_000

/** Mail by SMTP. Nothing is loaded and nobody asked before the first letter. */
export function createMail({ url, from }: SmtpOptions): Mail {
  let transporter: Promise<Transporter> | undefined

  async function connect(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url,
      connectionTimeout: PATIENCE_MS,
      greetingTimeout: PATIENCE_MS,
      socketTimeout: PATIENCE_MS,
      // A letter is its text: nothing in it can make this machine read a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  return {
    async send({ to, subject, text }) {
      transporter ??= connect()
      try {
        await (
          await transporter
        ).sendMail({
          from,
          // As an object: a comma in it is no second recipient.
          to: { name: '', address: to },
          subject,
          text,
          // Nobody's holiday notice is wanted (RFC 3834 §5).
          headers: { 'auto-submitted': 'auto-generated' },
        })
      } catch (cause) {
        throw new Failure('unavailable', 'A letter could not be sent.', {
          hint: 'See whether the mail server of COMMONPLACE_SMTP_URL answers and takes mail from COMMONPLACE_MAIL_FROM.',
          cause,
        })
      }
    },
    async close() {
      const opened = await transporter
      opened?.close()
    },
  }
}
