import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'

/** What of the Academy this version has. */
const OFFERED = { themes: false, practices: false }

export const getAcademyStatus = defineTool({
  name: 'get_academy_status',
  family: 'academy',
  title: 'Check the Academy',
  description:
    'Says whether the Academy is on for this reader, and whether Themes and Practices can be used. Call it before any tool of ' +
    'Themes and Practices; what was made with them can be read even where it is off.',
  input: z.strictObject({}),
  output: z.object({
    /** Whether the Academy is on for this reader. */
    academy_access: z.boolean(),
    themes_available: z.boolean(),
    practices_available: z.boolean(),
    /** Why something cannot be used; absent where all can. */
    note: z.string().optional(),
  }),
  scopes: [],
  effect: 'read',
  summary: ({ academy_access, note }) =>
    [`The Academy is ${academy_access ? 'on' : 'off'} for this reader.`, note].filter(Boolean).join(' '),
  async run({ outside: { account } }) {
    // A library of one computer asks nobody.
    const access = account ? await account.academy() : true
    const note = noteOf(access)
    return {
      academy_access: access,
      themes_available: access && OFFERED.themes,
      practices_available: access && OFFERED.practices,
      ...(note !== undefined && { note }),
    }
  },
})

function noteOf(access: boolean): string | undefined {
  if (!access) return 'The operator of this server has switched it off; they can switch it on.'
  return OFFERED.themes && OFFERED.practices ? undefined : 'This version has no Themes and Practices yet.'
}
