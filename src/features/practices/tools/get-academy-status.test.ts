import { expect, it } from 'vitest'
import { call } from '../../../../test/support/call.ts'
import { sqliteDb, testOutside } from '../../../../test/support/library.ts'
import { createLibrary } from '../../../core/library.ts'
import { getAcademyStatus } from './get-academy-status.ts'

it.each([
  ['is on for a library of one computer', undefined, true],
  ['is on where the account has it', true, true],
  ['is off where the operator switched it off', false, false],
])('the Academy %s', async (_what, academy, access) => {
  const library = createLibrary({
    db: await sqliteDb(),
    outside: {
      ...testOutside({}),
      ...(academy !== undefined && { account: { place: 'here', academy: async () => academy } }),
    },
  })
  expect(await call(getAcademyStatus, library, {}, { scopes: [] })).toMatchObject({ academy_access: access })
})
