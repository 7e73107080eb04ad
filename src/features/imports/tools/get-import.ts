import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idNumber } from '../../../core/ids.ts'
import { creditsLeft, describeImport, importEntry, tellImport } from '../describe-import.ts'
import { findImport } from '../import-store.ts'

export const getImport = defineTool({
  name: 'get_import',
  family: 'highlights',
  title: 'Look at an import',
  description:
    'How an import stands that add_source began, or one of a file: pending, processing, completed or failed, what it brought ' +
    '(counts), and the reason where it failed. Ask every few seconds until it is completed or failed; the source is then in ' +
    'list_sources. An import that ran out of AI credits is completed with truncated true and the reason credits_used_up, ' +
    'and stays so: the rest is read some night later by another import (resumed_by), so follow highlights_count of the ' +
    'source with get_source instead.',
  input: z.strictObject({ id: idNumber('The import_id that add_source gave') }),
  output: importEntry,
  scopes: ['sources:read'],
  effect: 'read',
  summary: tellImport,
  run: async (library, { id }) => ({
    ...(await describeImport(library, await findImport(library.db, id))),
    ...(await creditsLeft(library)),
  }),
})
