import type { AnyResource } from '../core/define-resource.ts'
import type { Call } from '../core/define-tool.ts'
import type { Library } from '../core/library.ts'
import { bindArguments } from './bind-arguments.ts'
import { checkScopes } from './check-scopes.ts'
import { RESOURCES } from './resources.ts'

/** A resource with what stood in its address. */
export interface Address {
  resource: AnyResource
  args: Record<string, string>
}

/** Schemes that mean the library that is asked. */
const ADDRESS = /^(?:becoming|commonplace):\/\/([a-z]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/i

/** The resource that an address is of; undefined where it is of none. */
export function resourceAt(uri: string): Address | undefined {
  const [matched, collection = '', id = '', query = ''] = ADDRESS.exec(uri) ?? []
  if (matched === undefined) return undefined
  const known = `becoming://${collection.toLowerCase()}${id === '' ? '' : '/{id}'}`
  const resource = RESOURCES.find((one) => one.uri === known)
  if (!resource) return undefined
  return {
    resource,
    args: { ...Object.fromEntries(new URLSearchParams(query)), ...(id !== '' && { id: decoded(id) }) },
  }
}

/** What is badly encoded is no id, and is looked for as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * The one way into a resource, that of a tool which reads: strict parse → scopes → read → output check. Throws `Failure`; what
 * else is thrown is a fault of ours.
 */
export async function readResource(
  { resource, args }: Address,
  library: Library,
  call: Call,
): Promise<Record<string, unknown>> {
  const { uri, input, bind } = resource
  const read = bindArguments({ name: uri, input, bind }, args)
  checkScopes(uri, resource.scopes, call.scopes)
  return resource.output.parse(await read(library, call))
}
