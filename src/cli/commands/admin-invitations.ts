import {
  listInvitations,
  makeInvitation,
  withdrawInvitation,
} from '../../features/accounts/invitation-store.ts'
import { Failure } from '../../core/failure.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { oneLine, STYLE } from '../print.ts'
import { when } from '../when.ts'
import type { Administering } from './admin-server.ts'

export async function adminInvitations(on: Administering): Promise<number> {
  const [verb = 'list', ...words] = on.words
  if (verb === 'list') return list(on)
  if (verb === 'make') return make(on)
  if (verb === 'withdraw') return withdraw({ ...on, words })
  throw usage(`admin invitations does not know ${JSON.stringify(verb)}.`, 'It knows list, make, withdraw.')
}

async function list({ server, out, json }: Administering): Promise<number> {
  const invitations = await listInvitations(server.accounts)
  if (json) {
    out.json({ invitations })
    return EXIT.ok
  }
  if (invitations.length === 0) {
    out.line('None. `commonplace admin invitations make` makes one.')
    return EXIT.ok
  }
  const now = server.accounts.now()
  out.table(
    [
      { title: 'ID' },
      { title: 'FOR', flexible: true },
      { title: 'BY', flexible: true, spare: true },
      { title: 'MADE' },
      { title: 'STATE' },
    ],
    invitations.map((one) => [
      one.id,
      oneLine(one.email ?? 'anybody'),
      oneLine(one.invitedBy ?? 'you'),
      when(one.createdAt, now),
      one.usedAt === null
        ? `open until ${one.expiresAt.slice(0, 10)}`
        : { text: `used${one.usedBy === null ? '' : ` by ${oneLine(one.usedBy)}`}`, style: STYLE.dim },
    ]),
  )
  return EXIT.ok
}

async function make({ server, args, out, json }: Administering): Promise<number> {
  const email = args.one('email')
  const made = await makeInvitation(server.accounts, {
    ...(email !== undefined && { email }),
    byMail: args.on('mail'),
    waitForMail: true,
  })
  if (json) out.json(made)
  else if (made.link === undefined) out.line(`The invitation is on its way to ${oneLine(email ?? '')}.`)
  else {
    out.line(
      `Whoever opens this may become a reader${email === undefined ? '' : `, as ${oneLine(email)} alone`}; once, until ${made.expiresAt.slice(0, 10)}:`,
    )
    out.line(made.link)
  }
  return EXIT.ok
}

async function withdraw({ server, out, json, words }: Administering): Promise<number> {
  const [id] = words
  if (id === undefined) throw usage('Say which invitation: its id.')
  if (!(await withdrawInvitation(server.accounts, id))) {
    throw new Failure('item_not_found', `There is no open invitation ${JSON.stringify(id)}.`, {
      hint: '`commonplace admin invitations` lists them; one that was used cannot be taken back.',
    })
  }
  if (json) out.json({ id, withdrawn: true })
  else out.line('The invitation is taken back.')
  return EXIT.ok
}
