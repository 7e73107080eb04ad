import {
  closeFeedback,
  findFeedback,
  listFeedback,
  type Feedback,
} from '../../features/feedback/feedback-store.ts'
import { Failure } from '../../core/failure.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { oneLine, printable, STYLE } from '../print.ts'
import { when } from '../when.ts'
import type { Administering } from './admin-server.ts'

export async function adminFeedback(on: Administering): Promise<number> {
  const [verb = 'list', id] = on.words
  if (verb === 'list') return list(on)
  if (verb === 'show') return show(on, id)
  if (verb === 'done') return done(on, id)
  throw usage(`admin feedback does not know ${JSON.stringify(verb)}.`, 'It knows list, show, done.')
}

async function list({ server, args, out, json }: Administering): Promise<number> {
  const { db, now } = server.accounts
  const messages = await listFeedback(db, { done: args.on('all') })
  if (json) {
    out.json({ feedback: messages })
    return EXIT.ok
  }
  if (messages.length === 0) {
    out.line('The inbox is empty.')
    return EXIT.ok
  }
  out.table(
    [
      { title: 'ID' },
      { title: 'FROM', flexible: true, least: 12 },
      { title: 'WHEN' },
      { title: 'MESSAGE', flexible: true, least: 20 },
    ],
    messages.map((one) => [
      one.id,
      senderOf(one),
      when(one.createdAt, now()),
      { text: oneLine(one.body), ...(one.doneAt !== null && { style: STYLE.dim }) },
    ]),
  )
  return EXIT.ok
}

async function show({ server, out, json }: Administering, id: string | undefined): Promise<number> {
  const message = await messageNamed(server.accounts.db, id)
  if (json) out.json(message)
  else {
    out.line({ text: senderOf(message), style: STYLE.strong }, ` on ${message.createdAt.slice(0, 10)}`)
    out.line()
    for (const line of printable(message.body).split('\n')) out.paragraph(line)
  }
  return EXIT.ok
}

async function done({ server, out, json }: Administering, id: string | undefined): Promise<number> {
  const { db, now } = server.accounts
  const message = await messageNamed(db, id)
  await closeFeedback(db, message.id, now().toISOString())
  if (json) out.json({ id: message.id, done: true })
  else out.line(`Done: the message of ${senderOf(message)}. \`admin feedback --all\` still shows it.`)
  return EXIT.ok
}

async function messageNamed(
  db: Parameters<typeof findFeedback>[0],
  id: string | undefined,
): Promise<Feedback> {
  if (id === undefined) throw usage('Say which message: its id.')
  const found = await findFeedback(db, id)
  if (found) return found
  throw new Failure('item_not_found', `There is no message ${JSON.stringify(id)}.`, {
    hint: '`commonplace admin feedback --all` lists them.',
  })
}

const senderOf = ({ from, readerId }: Feedback): string => oneLine(from ?? readerId.slice(0, 8))
