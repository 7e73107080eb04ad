/** Somebody else who vouches for readers: Google, Apple, or any other that speaks OpenID Connect. */
export interface IdentityProvider {
  /** Stands in addresses: `google`. */
  readonly name: string
  /** What readers see: `Google`. */
  readonly title: string
  /** Known without asking anybody; a person is known by issuer and subject together. */
  readonly issuer: string
  /** How the browser brings the answer: in the address, or as a form that comes from the provider's own page. */
  readonly answersBy: 'query' | 'form_post'
  /** Where the browser goes. Throws `unavailable` where the provider cannot be asked. */
  addressFor(request: ProviderRequest): Promise<string>
  /**
   * Who came back: the answer's code is redeemed, and the ID token's signature, issuer, audience, nonce and times are checked.
   * Throws `sign_in_refused` where the provider declines or any of that does not fit, `unavailable`.
   */
  identify(answer: URLSearchParams, request: ProviderRequest): Promise<Person>
}

/** What binds an answer to the question. */
export interface ProviderRequest {
  state: string
  nonce: string
  /** PKCE's (RFC 7636). */
  verifier: string
  redirectUri: string
}

/** A person as a provider knows them. */
export interface Person {
  issuer: string
  subject: string
  email?: string
  /** Whether the provider says that the address is theirs. */
  emailVerified: boolean
  name?: string
}
