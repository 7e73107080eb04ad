import { z } from 'zod'
import { Failure } from '../core/failure.ts'
import { isPlace } from './host-name.ts'
import { libraryFolder } from './library-folder.ts'
import type { YouTubeAccess } from '../core/outside.ts'
import { modelOf, modelVariables, type ModelConfig } from './model.ts'
import { youtubeOf, youtubeVariables } from './youtube.ts'

const environment = z.object({
  COMMONPLACE_LIBRARY: z.string().optional(),
  COMMONPLACE_ALLOW_HOSTS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((host) => host.trim())
        .filter(Boolean),
    )
    .superRefine((hosts, context) => {
      const wrong = hosts.find((host) => !isPlace(host))
      if (wrong === undefined) return
      context.addIssue({
        code: 'custom',
        message: `takes names, name:port, addresses or ranges such as 192.168.1.0/24, with commas between; ${JSON.stringify(wrong.slice(0, 100))} is none of them`,
      })
    }),
  COMMONPLACE_EMBEDDER: z.enum(['builtin', 'openai', 'ollama', 'off']).default('builtin'),
  COMMONPLACE_EMBEDDER_URL: z.url().optional(),
  COMMONPLACE_EMBEDDER_MODEL: z.string().optional(),
  COMMONPLACE_EMBEDDER_KEY: z.string().optional(),
  ...modelVariables,
  ...youtubeVariables,
  COMMONPLACE_DEBUG: z.string().optional(),
})

const modelPart = z.object(modelVariables)

export interface LocalConfig {
  /** Folder of the library. */
  library: string
  /** Hosts (`name`, `name:port`, or address range) that may be captured though they are not public. */
  allowHosts: string[]
  embedder:
    | { kind: 'builtin' }
    | { kind: 'off' }
    | { kind: 'openai' | 'ollama'; url: string; model: string; apiKey: string | undefined }
  /** What picks passages and writes digests where it is set; else what is built in. */
  model: ModelConfig
  /** How YouTube is asked, where that differs from what the program knows. */
  youtube?: YouTubeAccess
  debug: boolean
}

/** Reads the environment once. Throws `invalid_input` with the name of the variable and what it takes. */
export function readLocalConfig(
  env: NodeJS.ProcessEnv,
  flags: { library?: string | undefined } = {},
): LocalConfig {
  const parsed = environment.safeParse(env)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    // A rule of ours is a sentence about the variable.
    const said = issue?.code === 'custom' ? ' ' : ': '
    throw new Failure('invalid_input', `${issue?.path.join('.')}${said}${issue?.message}.`, {
      hint: 'Mend or unset the variable; docs/configuration.md lists what each takes.',
    })
  }
  const given = parsed.data
  const youtube = youtubeOf(given)
  return {
    library: libraryFolder(env, flags.library),
    allowHosts: given.COMMONPLACE_ALLOW_HOSTS,
    embedder: embedderOf(given),
    model: modelOf(modelPart.parse(given)),
    ...(youtube && { youtube }),
    debug: Boolean(given.COMMONPLACE_DEBUG),
  }
}

function embedderOf(given: z.output<typeof environment>): LocalConfig['embedder'] {
  const kind = given.COMMONPLACE_EMBEDDER
  if (kind === 'builtin') return { kind }
  if (kind === 'off') return { kind }
  const { COMMONPLACE_EMBEDDER_URL: url, COMMONPLACE_EMBEDDER_MODEL: model } = given
  if (!url || !model) {
    throw new Failure('invalid_input', `COMMONPLACE_EMBEDDER=${kind} needs an address and a model.`, {
      hint: 'Set COMMONPLACE_EMBEDDER_URL and COMMONPLACE_EMBEDDER_MODEL, or unset COMMONPLACE_EMBEDDER.',
    })
  }
  return { kind, url, model, apiKey: given.COMMONPLACE_EMBEDDER_KEY }
}
