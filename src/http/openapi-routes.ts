import { z } from 'zod'
import { importEntry } from '../features/imports/describe-import.ts'
import { JOB_STATES } from '../jobs/job-list.ts'
import { addFile } from './add-file.ts'
import { markup, type Markup } from './oauth/page.ts'

type Json = Record<string, unknown>

/** One address of the API that is no tool. */
interface Described {
  path: string
  method: 'get' | 'post' | 'delete'
  operationId: string
  tag: 'files' | 'imports' | 'jobs' | 'account'
  summary: string
  description: string
  /** All are needed; where several sets are named, one of them. */
  scopes: readonly (readonly string[])[]
  parameters?: readonly Json[]
  requestBody?: Json
  responses: Json
}

const query = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  name,
  in: 'query',
  description,
  schema,
})
const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})
const inPath = (name: string, description: string): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})

const BYTES = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } }
const UNCHANGED = { '304': { description: 'It is what `If-None-Match` names.' } }
const IF_NONE_MATCH = header('If-None-Match', 'An `ETag` that was given before')

function schemaOf(schema: z.ZodType): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'output', reused: 'inline' })
  return json
}

const FILE_RESPONSES: Json = {
  '200': { description: 'The file.', content: { '*/*': BYTES } },
  '206': { description: 'The part that `Range` asks for.', content: { '*/*': BYTES } },
  ...UNCHANGED,
  '416': { $ref: '#/components/responses/Failure416' },
}

const ROUTES: readonly Described[] = [
  {
    path: '/api/files',
    method: 'post',
    operationId: 'add_file',
    tag: 'files',
    summary: addFile.title,
    description:
      `${addFile.description} Send the file as the body, or as the one file of a form. What it is, is told by its bytes, then by ` +
      'Content-Type, then by its name. Further fields may stand in the query or in the form. The body must not be compressed.',
    scopes: [addFile.scopes],
    parameters: [
      query('name', 'What the file is called; else the name in Content-Disposition or in the form'),
      query('url', 'Where it came from'),
      query('title', 'A title instead of its own'),
      query('note', 'A comment to keep with it; needs notes:write'),
      query('tag', 'Tags to put on it', { type: 'array', items: { type: 'string' } }),
      query(
        'requestId',
        'Your own id for this call: the same id within 24 hours gives the first result again',
      ),
      header('Idempotency-Key', 'The same as requestId'),
    ],
    requestBody: {
      required: true,
      content: {
        '*/*': BYTES,
        'multipart/form-data': {
          schema: {
            type: 'object',
            properties: {
              file: BYTES.schema,
              name: { type: 'string' },
              url: { type: 'string' },
              title: { type: 'string' },
              note: { type: 'string' },
              tag: { type: 'array', items: { type: 'string' } },
            },
            required: ['file'],
          },
        },
      },
    },
    responses: {
      '200': {
        description: 'The file is in the library already, and has been captured.',
        content: { 'application/json': { schema: schemaOf(addFile.output) } },
      },
      '202': {
        description: 'It is stored and is being captured: `job` and `Location` name the job.',
        headers: { Location: { schema: { type: 'string' } } },
        content: { 'application/json': { schema: schemaOf(addFile.output) } },
      },
      '413': { $ref: '#/components/responses/Failure413' },
      '415': { $ref: '#/components/responses/Failure415' },
    },
  },
  {
    path: '/api/media/{hash}',
    method: 'get',
    operationId: 'get_media',
    tag: 'files',
    summary: 'A picture or a file of the library',
    description:
      'By the SHA-256 of its bytes, as far as something in the library names it. One of a name never changes. Not counted as a call.',
    scopes: [['sources:read']],
    parameters: [inPath('hash', 'SHA-256, hex'), IF_NONE_MATCH, header('Range', 'One range of bytes')],
    responses: FILE_RESPONSES,
  },
  {
    path: '/api/items/{id}/file',
    method: 'get',
    operationId: 'get_item_file',
    tag: 'files',
    summary: 'The original of an item',
    description: 'The file that was added, or the page as it was fetched.',
    scopes: [['sources:read']],
    parameters: [inPath('id', 'Item id'), IF_NONE_MATCH, header('Range', 'One range of bytes')],
    responses: FILE_RESPONSES,
  },
  {
    path: '/api/items/{id}/text',
    method: 'get',
    operationId: 'get_item_text',
    tag: 'files',
    summary: 'The text of an item',
    description: 'All of it, as Markdown.',
    scopes: [['sources:read']],
    parameters: [inPath('id', 'Item id'), IF_NONE_MATCH],
    responses: {
      '200': { description: 'The text.', content: { 'text/markdown': { schema: { type: 'string' } } } },
      ...UNCHANGED,
    },
  },
  {
    path: '/api/imports',
    method: 'post',
    operationId: 'import_file',
    tag: 'imports',
    summary: 'Bring in an export of another program',
    description:
      'Takes a file that Kindle, Readwise, Kobo, Pocket and others export, as the body; what it is, is told by its content. It is ' +
      'imported in the background: ask for the import until it is completed or failed. The same file again adds nothing.',
    scopes: [['sources:write', 'highlights:write']],
    parameters: [query('name', 'What the file is called; else the name in Content-Disposition')],
    requestBody: { required: true, content: { '*/*': BYTES } },
    responses: {
      '202': {
        description: 'It is stored and will be imported: `import_id` and `Location` name the import.',
        headers: { Location: { schema: { type: 'string' } } },
        content: { 'application/json': { schema: schemaOf(importEntry) } },
      },
      '413': { $ref: '#/components/responses/Failure413' },
      '415': { $ref: '#/components/responses/Failure415' },
    },
  },
  {
    path: '/api/imports/{id}',
    method: 'get',
    operationId: 'get_file_import',
    tag: 'imports',
    summary: 'How an import stands',
    description: 'The same as the tool get_import.',
    scopes: [['sources:read']],
    parameters: [inPath('id', 'Import id')],
    responses: {
      '200': {
        description: 'The import.',
        content: { 'application/json': { schema: schemaOf(importEntry) } },
      },
    },
  },
  {
    path: '/api/imports/{id}',
    method: 'delete',
    operationId: 'undo_import',
    tag: 'imports',
    summary: 'Take out again what an import brought',
    description:
      'What the reader has written to, tagged, changed or reviewed since stays. The same file can be imported anew.',
    scopes: [['sources:write', 'highlights:write']],
    parameters: [inPath('id', 'Import id')],
    responses: {
      '200': {
        description: 'How many sources, highlights, notes and readings were taken out, and how many stay.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                import_id: { type: 'integer' },
                removed: { type: 'object', additionalProperties: { type: 'integer' } },
                kept: { type: 'object', additionalProperties: { type: 'integer' } },
              },
              required: ['import_id', 'removed', 'kept'],
            },
          },
        },
      },
    },
  },
  {
    path: '/api/imports/{id}/report.csv',
    method: 'get',
    operationId: 'get_import_report',
    tag: 'imports',
    summary: 'What became of each row of an imported file',
    description: 'A table with a line for each row of the file, once the import is completed.',
    scopes: [['sources:read', 'highlights:read', 'notes:read']],
    parameters: [inPath('id', 'Import id'), IF_NONE_MATCH],
    responses: {
      '200': { description: 'The report.', content: { 'text/csv': { schema: { type: 'string' } } } },
      ...UNCHANGED,
    },
  },
  {
    path: '/api/jobs/{id}',
    method: 'get',
    operationId: 'get_job',
    tag: 'jobs',
    summary: 'How far a job is',
    description: 'The state of work that was queued, such as the capture of a file.',
    scopes: [['sources:read'], ['sources:write']],
    parameters: [inPath('id', 'Job id'), IF_NONE_MATCH],
    responses: {
      '200': {
        description: 'The job.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Job' } } },
      },
      ...UNCHANGED,
    },
  },
  {
    path: '/api/jobs/{id}/events',
    method: 'get',
    operationId: 'follow_job',
    tag: 'jobs',
    summary: 'A job as it goes on',
    description:
      'Events of the type `progress`, each with the job as its data, and at the end one of the type `outcome`. A comment goes out ' +
      'every 15 seconds. A stream ends after ten minutes at the latest: come again with `Last-Event-ID`, as EventSource does, until ' +
      'there was an outcome; 204 says that you have heard it.',
    scopes: [['sources:read'], ['sources:write']],
    parameters: [inPath('id', 'Job id'), header('Last-Event-ID', 'The last event that was heard')],
    responses: {
      '200': { description: 'The events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      '204': { description: 'The outcome was heard already.' },
    },
  },
  {
    path: '/api/feedback',
    method: 'post',
    operationId: 'send_feedback',
    tag: 'account',
    summary: 'A message to whoever runs this server',
    description: 'Kept with your account until they have read it.',
    scopes: [[]],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { text: { type: 'string' } },
            required: ['text'],
            additionalProperties: false,
          },
        },
      },
    },
    responses: {
      '201': {
        description: 'It was taken.',
        content: {
          'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } },
        },
      },
      '413': { $ref: '#/components/responses/Failure413' },
    },
  },
]

export const JOB_SCHEMA: Json = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    kind: { type: 'string', description: '`capture` and others.' },
    state: { enum: JOB_STATES },
    progress: {
      type: ['object', 'null'],
      description: 'What the job said of itself last.',
      properties: { done: { type: 'number' }, total: { type: 'number' }, message: { type: 'string' } },
    },
    attempts: { type: 'integer', description: 'How often it was begun.' },
    createdAt: { type: 'string', format: 'date-time' },
    finishedAt: { type: ['string', 'null'], format: 'date-time' },
    failure: {
      type: ['object', 'null'],
      description: 'How the last attempt failed; a job that is pending is tried again.',
      properties: { code: { type: 'string' }, message: { type: 'string' }, hint: { type: 'string' } },
    },
    item: { type: ['string', 'null'], description: 'The item that it captures.' },
  },
  required: ['id', 'kind', 'state', 'progress', 'attempts', 'createdAt', 'finishedAt', 'failure', 'item'],
}

export const ROUTE_TAGS: readonly string[] = [...new Set(ROUTES.map(({ tag }) => tag))]

/** The addresses that are no tools, as OpenAPI has them. `failures` are those that any of them may answer. */
export function describeRoutes(failures: Json): Json {
  const paths: Record<string, Json> = {}
  for (const { path, method, operationId, tag, scopes, responses, ...told } of ROUTES) {
    paths[path] = {
      ...paths[path],
      [method]: {
        operationId,
        tags: [tag],
        ...told,
        security: scopes.flatMap((set) => [{ oauth: set }, { token: set }]),
        responses: { ...failures, ...responses },
      },
    }
  }
  return paths
}

/** The same for people. */
export const routeList = (): readonly Markup[] =>
  ROUTES.map(
    ({ path, method, operationId, summary, description, scopes }) =>
      markup`<li id="${operationId}"><strong><code>${method.toUpperCase()} ${path}</code></strong> ${summary}. ${description}<br>
<small>Needs ${scopes.map((set) => set.join(' and ') || 'no scope').join(' or ')}.</small></li>`,
  )
