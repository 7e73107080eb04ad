import { z } from 'zod'
import { SCOPES, type AnyTool } from '../core/define-tool.ts'
import { SCOPE_WORDS } from '../features/accounts/scope-words.ts'
import { markup, type Markup } from './oauth/page.ts'
import { describeRoutes, JOB_SCHEMA, ROUTE_TAGS, routeList } from './openapi-routes.ts'
import { SERVER_TOOLS } from './run-tool.ts'

type Json = Record<string, unknown>

/** Statuses that a failure can have, with what each means to a caller. */
const FAILURES: readonly [status: string, meaning: string][] = [
  ['400', 'The arguments are not what the tool takes; `details.issues` names each field.'],
  ['401', 'No token, or one that is unknown, expired or revoked.'],
  ['403', 'The token does not allow this; `details.missing` names the scopes.'],
  ['404', 'There is no such thing in the library of this reader.'],
  ['409', 'Something is in the way, such as the same call still running.'],
  ['413', 'The body is larger than is taken.'],
  ['415', 'The body is of another type than is taken.'],
  ['416', 'The file has no such part.'],
  ['422', 'The arguments are right and what they ask for cannot be done.'],
  ['429', 'Too many calls; `Retry-After` and `retryAfterSeconds` say when there is room again.'],
  ['500', 'A fault of the server.'],
  ['502', 'A page could not be fetched.'],
  ['503', 'Not now: the library is locked, or what the server stands on is away.'],
  ['504', 'It took too long.'],
  ['507', 'There is no room left on the server.'],
]
/** Those that a request for another thing than a tool may be answered with, whatever it is. */
const COMMON = ['400', '401', '403', '404', '429', '500', '503']

/** OpenAPI 3.1 of the HTTP API, generated from the declarations of the tools. `base` is the public origin. */
export function describeApi({ base, version }: { base: string; version: string }): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Commonplace',
      version,
      description:
        "One reader's library over HTTP: every tool of the assistant by POST, arguments and output as JSON; files in and out; " +
        'jobs as they go on. Write tools take `requestId`: the same id within 24 hours gives the first result again.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base }],
    tags: [...new Set([...SERVER_TOOLS.values()].map(({ family }) => family)), ...ROUTE_TAGS].map((name) => ({
      name,
    })),
    paths: {
      ...Object.fromEntries(
        [...SERVER_TOOLS.values()].map((tool) => [`/api/tools/${tool.name}`, { post: describeCall(tool) }]),
      ),
      ...describeRoutes(failuresOf(COMMON)),
    },
    components: {
      schemas: { Problem: PROBLEM, Job: JOB_SCHEMA },
      responses: Object.fromEntries(
        FAILURES.map(([status, description]) => [
          `Failure${status}`,
          {
            description,
            ...(status === '429' && { headers: { 'Retry-After': { schema: { type: 'integer' } } } }),
            content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
          },
        ]),
      ),
      securitySchemes: {
        oauth: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: `${base}/oauth/authorize`,
              tokenUrl: `${base}/oauth/token`,
              refreshUrl: `${base}/oauth/token`,
              scopes: Object.fromEntries(SCOPES.map((scope) => [scope, SCOPE_WORDS[scope].sentence])),
            },
          },
        },
        token: { type: 'http', scheme: 'bearer', description: 'A personal token or an access token.' },
      },
    },
  }
}

function describeCall(tool: AnyTool): Json {
  return {
    operationId: tool.name,
    summary: tool.title,
    description: tool.description,
    tags: [tool.family],
    security: [{ oauth: [...tool.scopes] }, { token: [...tool.scopes] }],
    requestBody: {
      required: isNeeded(tool.input),
      content: { 'application/json': { schema: schemaOf(tool.input, 'input') } },
    },
    responses: {
      '200': {
        description: 'What the tool gives.',
        content: { 'application/json': { schema: schemaOf(tool.output, 'output') } },
      },
      ...failuresOf(FAILURES.map(([status]) => status).filter((status) => status !== '416')),
    },
  }
}

const failuresOf = (statuses: readonly string[]): Json =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Failure${status}` }]))

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, reused: 'inline' })
  return json
}

const isNeeded = (input: z.ZodObject): boolean => !input.safeParse({}).success

const PROBLEM: Json = {
  type: 'object',
  description: 'RFC 9457',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What went wrong.' },
    code: { type: 'string', description: 'The same code that a tool call over MCP answers with.' },
    hint: { type: 'string', description: 'What to do next.' },
    retryAfterSeconds: { type: 'integer' },
    details: { type: 'object' },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'hint'],
}

/** The same for people. */
export function apiPage(base: string): Markup {
  const tools = [...SERVER_TOOLS.values()]
  return markup`<p>Every tool is called by <code>POST ${base}/api/tools/NAME</code> with its arguments as a JSON object and
<code>Authorization: Bearer TOKEN</code>. The same as <a href="/api/openapi.json">OpenAPI 3.1</a>.</p>
<pre><code>curl ${base}/api/tools/list_items -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"limit": 5}'</code></pre>
<h2>Tools</h2>
<ul>${tools.map(
    (tool) => markup`<li id="${tool.name}"><strong><code>${tool.name}</code></strong> ${tool.description}<br>
<small>Takes ${argumentsOf(tool)}. Needs ${tool.scopes.join(', ') || 'no scope'}.</small></li>`,
  )}</ul>
<h2>Files and jobs</h2>
<pre><code>curl ${base}/api/files?name=paper.pdf -H "Authorization: Bearer $TOKEN" --data-binary @paper.pdf -H 'Content-Type: application/pdf'</code></pre>
<ul>${routeList()}</ul>
<p>Answers have an <code>ETag</code> where they can be asked for again; long ones are compressed for who takes that.</p>
<h2>Failures</h2>
<p>A failure is <code>application/problem+json</code>: <code>code</code> says which, <code>detail</code> what went wrong,
<code>hint</code> what to do next.</p>
<ul>${FAILURES.map(([status, meaning]) => markup`<li><strong>${status}</strong> ${meaning.replaceAll('`', '')}</li>`)}</ul>`
}

function argumentsOf({ input }: AnyTool): string {
  const names = Object.entries(input.shape).map(([name, schema]) =>
    (schema as z.ZodType).safeParse(undefined).success ? `${name} (optional)` : name,
  )
  return names.join(', ') || 'nothing'
}
