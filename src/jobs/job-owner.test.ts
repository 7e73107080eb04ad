import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { isDeadOwner, ownerName } from './job-owner.ts'

test('a process of this machine is known to be dead or alive; of any other nothing is known', () => {
  const [here, , mark] = ownerName().split('/')
  const { pid: gone } = spawnSync(process.execPath, ['--version'])
  expect(isDeadOwner(ownerName())).toBe(false)
  expect(isDeadOwner(`${here}/${gone}/${mark}`)).toBe(true)
  // A container of the same name, or a copy of this machine, numbers its processes for itself.
  expect(isDeadOwner(`${hostname()}~elsewhere/${gone}/${mark}`)).toBe(false)
  expect(isDeadOwner(`${hostname()}/${gone}/${mark}`)).toBe(false)
})
