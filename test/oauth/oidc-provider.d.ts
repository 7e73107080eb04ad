/** What the tests use of oidc-provider, which brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Client {
    clientId: string
    compareClientSecret(given: string): boolean | Promise<boolean>
  }
  class Grant {
    constructor(of: { accountId: string; clientId: string })
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }
  export class Provider {
    constructor(issuer: string, configuration: object)
    proxy: boolean
    Client: { prototype: Client }
    Grant: typeof Grant
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>
    interactionDetails(
      req: IncomingMessage,
      res: ServerResponse,
    ): Promise<{ params: { client_id: string; scope: string } }>
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: object): Promise<void>
    on(event: 'server_error', listener: (ctx: unknown, error: Error) => void): void
  }
  export default Provider
}
