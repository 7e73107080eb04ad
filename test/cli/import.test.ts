import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
beforeEach(() => (at = openWorkspace()))
afterEach(() => at.remove())

const HEADER =
  'Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags'
const ROWS = [
  '=2+2 and more,Bees,Ann,,=note,yellow,"a,b",page,1,2024-01-01 10:00:00+00:00,',
  'Honey keeps,Bees,Ann,,,,,page,2,2024-01-02 10:00:00+00:00,',
  ',Bees,Ann,,,,,page,3,,',
]

const file = (name: string, content: string): string => {
  writeFileSync(join(at.folder, name), content)
  return name
}
const readwise = () => file('readwise.csv', [HEADER, ...ROWS].join('\r\n'))

describe('commonplace import', () => {
  it('tries a file, brings it in, lists it and takes it out again', async () => {
    const name = readwise()
    const trial = await at.run(['import', name, '--dry-run'])
    expect(trial.stdout).toContain('Would come in: 1 source, 2 highlights, 1 note, 2 tags.')
    expect((await at.run(['import', '--list'])).stdout).toBe('No file was imported yet.\n')

    const { code, stdout } = await at.run(['import', name, '--report', 'report.csv'])
    expect(code).toBe(0)
    expect(stdout).toContain('New: 1 source, 2 highlights, 1 note, 2 tags.')
    expect(stdout).toContain('Could not go in: 1 row.')
    expect(stdout).toMatch(/row 4, line 4: It has neither words nor a note\./)
    const lines = readFileSync(join(at.folder, 'report.csv'), 'utf8').trimEnd().split('\r\n')
    expect(lines.map((line) => line.split(',')[4])).toEqual(['fate', 'new', 'new', 'refused'])
    expect(lines[1]).toContain("'=2+2 and more")

    const again = await at.run(['import', name])
    expect(again.stdout).toMatch(/This very file came in on \d{4}-\d\d-\d\d: there is nothing new in it\./)
    const whole = await at.run(['import', name, '--report', 'again.csv'])
    expect(whole.stdout).toContain('New: nothing new.')
    expect(whole.stdout).toContain('There already: 4.')
    expect(whole.stdout).not.toContain('--undo')

    const { imports } = JSON.parse((await at.run(['import', '--list', '--json'])).stdout)
    expect(imports).toHaveLength(2)
    const undone = await at.run(['import', '--undo', imports[1].id])
    expect(undone.stdout).toBe('Taken out: 1 source, 2 highlights, 1 note.\n')
    expect((await at.run(['import', '--undo', imports[1].id])).stdout).toContain('undone already')
    expect((await at.run(['import', name])).stdout).toContain('2 highlights')
  })

  it('reports on several files in one table', async () => {
    const other = file('other.csv', 'Highlight,Book Title,Book Author\nOthers have said it,Walks,Roe\n')
    await at.run(['import', readwise(), other, '--report', 'both.csv'])
    const lines = readFileSync(join(at.folder, 'both.csv'), 'utf8').trimEnd().split('\r\n')
    expect(lines.filter((line) => line.startsWith('file,row,'))).toHaveLength(1)
    expect(new Set(lines.slice(1).map((line) => line.split(',')[0]))).toEqual(
      new Set(['readwise.csv', 'other.csv']),
    )
  })

  it('names the file that cannot be read, and brings the others in', async () => {
    const broken = file('broken.json', '[{"uri": "https://a.test/')
    const { code, stdout, stderr } = await at.run(['import', readwise(), broken])
    expect(code).toBe(4)
    expect(stdout).toContain('2 highlights')
    expect(stderr).toContain('broken.json: ')
  })

  it.each([
    [['import'], 2],
    [['import', ''], 2],
    [['import', 'nowhere.csv'], 3],
    [['import', '.'], 4],
    [['import', '--undo', 'x'], 2],
    [['import', '--undo', '12345'], 3],
    [['import', '--list', 'a.csv'], 2],
  ])('%j ends with %i and writes nothing', async (args, code) => {
    await at.run(['import', readwise()])
    const ended = await at.run(args)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).not.toBe('')
  })

  it('does not write over a file', async () => {
    const name = readwise()
    expect((await at.run(['import', name, '--report', name])).code).toBe(2)
    expect(existsSync(at.library)).toBe(false)
  })

  it('becomes a library again from an archive of one', async () => {
    await at.run(['import', readwise()])
    expect((await at.run(['export', 'all.zip'])).code).toBe(0)
    const other = join(at.folder, 'other')
    const taken = await at.run(['import', 'all.zip', '--library', other])
    expect([taken.code, taken.stderr]).toEqual([0, ''])
    expect(taken.stdout).toContain('2 highlights')
    const again = await at.run(['import', 'readwise.csv', '--library', other])
    expect(again.stdout).toContain('there is nothing new in it')
  })
})
