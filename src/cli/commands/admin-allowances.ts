import {
  allowanceForAll,
  allowanceOf,
  allowanceSetFor,
  allowanceSetForAll,
  setAllowance,
  setAllowanceForAll,
  type Allowance,
  type SetAllowance,
} from '../../features/allowances/allowance-store.ts'
import { listEntries } from '../../features/credits/credit-store.ts'
import { creditsOf, grantCredits } from '../../features/credits/credits.ts'
import { listReaders } from '../../features/accounts/reader-store.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { oneLine, STYLE } from '../print.ts'
import { size, when } from '../when.ts'
import { called, readerNamed, type Administering } from './admin-server.ts'

/** One of the things that are allowed to all readers alike, or to one otherwise. */
interface Subject<K extends keyof Allowance> {
  key: K
  name: string
  /** What a value may be, for a mistake. */
  takes: string
  read(word: string): Allowance[K] | undefined
  shown(value: Allowance[K]): string
}

const quota: Subject<'quotaBytes'> = {
  key: 'quotaBytes',
  name: 'quota',
  takes: 'a whole number of megabytes, none, or default',
  read: (word) => (word === 'none' ? 0 : /^[1-9]\d{0,8}$/.test(word) ? Number(word) * 1_000_000 : undefined),
  shown: (bytes) => (bytes === 0 ? 'no limit' : size(bytes)),
}

const academy: Subject<'academy'> = {
  key: 'academy',
  name: 'academy',
  takes: 'on, off, or default',
  read: (word) => (word === 'on' ? true : word === 'off' ? false : undefined),
  shown: (on) => (on ? 'on' : 'off'),
}

const credits: Subject<'credits'> = {
  key: 'credits',
  name: 'credits',
  takes: 'a whole number a month, or default',
  read: (word) => (/^\d{1,6}$/.test(word) ? Number(word) : undefined),
  shown: (amount) => `${amount.toLocaleString('en')} a month`,
}

export const adminQuota = (on: Administering): Promise<number> => showOrSet(on, quota)

export const adminAcademy = (on: Administering): Promise<number> => showOrSet(on, academy)

export async function adminCredits(on: Administering): Promise<number> {
  const [who, verb, amount] = on.words
  if (who !== undefined && who !== 'all') {
    if (verb === undefined) return showCredits(on)
    if (verb === 'grant') return grant(on, amount)
  }
  return showOrSet(on, credits)
}

async function showOrSet<K extends keyof Allowance>(on: Administering, subject: Subject<K>): Promise<number> {
  const [who, word] = on.words
  if (who === undefined) return showAll(on, subject)
  if (word === undefined && who !== 'all') return showOne(on, subject)
  if (word === undefined) return showAll(on, subject)
  const value = word === 'default' ? null : subject.read(word)
  if (value === undefined)
    throw usage(`admin ${subject.name} takes ${subject.takes}, not ${JSON.stringify(word)}.`)
  const change: Partial<SetAllowance> = { [subject.key]: value }
  const { server, out, json } = on
  const { db } = server.accounts
  if (who === 'all') {
    await setAllowanceForAll(db, change)
    const now = await allowanceForAll(db, server.configured)
    if (json) out.json({ all: { [subject.key]: now[subject.key] } })
    else out.line(`For everybody, unless set otherwise: ${subject.shown(now[subject.key])}.`)
    return EXIT.ok
  }
  const reader = await readerNamed(on, who)
  await setAllowance(db, reader.id, change)
  const now = await allowanceOf(db, reader.id, server.configured)
  if (json) out.json({ id: reader.id, [subject.key]: now[subject.key], own: value !== null })
  else
    out.line(
      `${called(reader)}: ${subject.shown(now[subject.key])}${value === null ? ', as everybody' : ''}.`,
    )
  return EXIT.ok
}

async function showAll<K extends keyof Allowance>(
  { server, out, json }: Administering,
  { key, shown }: Subject<K>,
): Promise<number> {
  const { db } = server.accounts
  const all = await allowanceForAll(db, server.configured)
  const set = (await allowanceSetForAll(db))[key] !== null
  const own: { id: string; who: string; value: Allowance[K] }[] = []
  for (const reader of await listReaders(db)) {
    const value = (await allowanceSetFor(db, reader.id))[key]
    if (value !== null) own.push({ id: reader.id, who: called(reader), value })
  }
  if (json) {
    out.json({
      all: { [key]: all[key], from: set ? 'admin' : 'configuration' },
      readers: own.map(({ id, value }) => ({ id, [key]: value })),
    })
    return EXIT.ok
  }
  out.line(`For everybody: ${shown(all[key])} (${set ? 'set here' : 'from the configuration'}).`)
  if (own.length > 0) {
    out.table(
      [{ title: 'OTHERWISE', flexible: true }, { title: '' }],
      own.map(({ who, value }) => [who, shown(value)]),
    )
  }
  return EXIT.ok
}

async function showOne<K extends keyof Allowance>(on: Administering, subject: Subject<K>): Promise<number> {
  const { server, out, json, words } = on
  const reader = await readerNamed(on, words[0])
  const { db } = server.accounts
  const allowance = await allowanceOf(db, reader.id, server.configured)
  const own = (await allowanceSetFor(db, reader.id))[subject.key] !== null
  const value = allowance[subject.key]
  const used =
    subject.key === 'quotaBytes' && server.hasLibrary(reader)
      ? await server.storageOf(reader.id).then(({ mediaBytes, textBytes }) => mediaBytes + textBytes)
      : undefined
  if (json) out.json({ id: reader.id, [subject.key]: value, own, ...(used !== undefined && { bytes: used }) })
  else
    out.line(
      `${called(reader)}: ${subject.shown(value)}${own ? '' : ', as everybody'}${
        used === undefined ? '' : `; ${size(used)} used`
      }.`,
    )
  return EXIT.ok
}

const SHOWN = 20

async function showCredits(on: Administering): Promise<number> {
  const { server, out, json, words } = on
  const { accounts } = server
  const reader = await readerNamed(on, words[0])
  const now = await creditsOf(accounts, reader.id, server.configured)
  const entries = await listEntries(accounts.db, reader.id, SHOWN)
  if (json) {
    out.json({
      id: reader.id,
      ...now,
      entries: entries.map(({ month, amount, what, at }) => ({ month, amount, what, at })),
    })
    return EXIT.ok
  }
  out.line(
    `${called(reader)}: ${now.left} left in ${now.month}, of ${now.allowance} a month${
      now.granted > 0 ? ` and ${now.granted} granted` : ''
    }.`,
  )
  if (entries.length > 0)
    out.table(
      [{ title: 'WHEN' }, { title: 'CREDITS', align: 'right' }, { title: 'WHAT', flexible: true }],
      entries.map(({ amount, what, at }) => [
        when(at, accounts.now()),
        { text: amount > 0 ? `−${amount}` : `+${-amount}`, style: amount > 0 ? STYLE.dim : STYLE.good },
        oneLine(what),
      ]),
    )
  return EXIT.ok
}

async function grant(on: Administering, amount: string | undefined): Promise<number> {
  const { server, out, json, words } = on
  const reader = await readerNamed(on, words[0])
  if (amount === undefined || !/^[1-9]\d{0,6}$/.test(amount))
    throw usage('Say how many credits to grant: a whole number.')
  await grantCredits(server.accounts, reader.id, Number(amount))
  const now = await creditsOf(server.accounts, reader.id, server.configured)
  if (json) out.json({ id: reader.id, ...now })
  else out.line(`${called(reader)} has ${now.left} credits left in ${now.month}.`)
  return EXIT.ok
}
