import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LIBRARY_FILE } from '../../app/open-file.ts'
import { modelInWords } from '../../config/model.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { STYLE } from '../print.ts'

export const config = defineCommand({
  name: 'config',
  usage: [''],
  about:
    'Shows the settings in effect and where each comes from. They are set by environment variables; docs/configuration.md lists them.',
  flags: [],
  words: { most: 0 },
  async run(context) {
    const { library, allowHosts, embedder, model, debug } = context.config()
    const { args, env, out, json } = context
    const from = (variable: string, flag?: string) =>
      flag !== undefined && args.given(flag) ? `--${flag}` : env[variable] ? variable : 'default'
    const there = existsSync(join(library, LIBRARY_FILE))
    const shown =
      embedder.kind === 'openai' || embedder.kind === 'ollama'
        ? { ...embedder, apiKey: embedder.apiKey === undefined ? undefined : 'set' }
        : embedder
    if (json) {
      out.json({
        library: { folder: library, exists: there, from: from('COMMONPLACE_LIBRARY', 'library') },
        embedder: shown,
        model:
          model.kind === 'off' ? model : { ...model, apiKey: model.apiKey === undefined ? undefined : 'set' },
        allowHosts,
        debug,
      })
      return EXIT.ok
    }
    const embedding =
      'url' in embedder ? `${embedder.kind} ${embedder.model} at ${embedder.url}` : embedder.kind
    out.table(
      [{ title: 'SETTING' }, { title: 'VALUE', flexible: true, least: 24 }, { title: 'FROM', spare: true }],
      [
        ['library', there ? library : `${library} (not made yet)`, from('COMMONPLACE_LIBRARY', 'library')],
        ['embedder', embedding, from('COMMONPLACE_EMBEDDER')],
        ['language model', modelInWords(model), from('COMMONPLACE_MODEL')],
        [
          'allowed hosts',
          allowHosts.join(', ') || 'none beside public ones',
          from('COMMONPLACE_ALLOW_HOSTS'),
        ],
        ['debug', debug ? 'on' : 'off', from('COMMONPLACE_DEBUG')],
      ].map(([name = '', value = '', source = '']) => [name, value, { text: source, style: STYLE.dim }]),
    )
    return EXIT.ok
  },
})
