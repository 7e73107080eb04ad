import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** What differs from what a well-behaved authenticator and browser do. */
export interface Deviation {
  origin?: string
  rpId?: string
  type?: string
  /** Whether the person was checked (PIN, finger). */
  userVerified?: boolean
  userPresent?: boolean
  counter?: number
  userHandle?: string | null
  /** Signs with another key. */
  otherKey?: boolean
  /** Answers this challenge. */
  challenge?: string
}

export interface CreationOptions {
  challenge: string
  rp: { id: string }
  user: { id: string }
  authenticatorSelection: { residentKey: string; userVerification: string }
  excludeCredentials: { id: string }[]
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url')
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest()

/** A device with one passkey, that signs with P-256 as most do. Counts its signatures where `counts`. */
export class Authenticator {
  readonly id = randomBytes(32)
  readonly #key: KeyObject
  readonly #publicKey: Buffer
  readonly #other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  readonly #origin: string
  counter: number
  userHandle = ''

  constructor(origin: string, { counts = true } = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#key = privateKey
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    // COSE_Key: EC2, ES256, P-256, x, y.
    this.#publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ])
    this.#origin = origin
    this.counter = counts ? 1 : 0
  }

  /** What the script sends after `navigator.credentials.create`. */
  create(options: CreationOptions, deviation: Deviation = {}): string {
    this.userHandle = options.user.id
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 32]), this.id, this.#publicKey])
    const data = this.#data(deviation.rpId ?? options.rp.id, deviation, credential)
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
      Buffer.from([0x58, data.length]),
      data,
    ])
    return JSON.stringify({
      id: base64url(this.id),
      rawId: base64url(this.id),
      type: 'public-key',
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, deviation),
        attestationObject: base64url(attestation),
        transports: ['internal', 'hybrid'],
      },
    })
  }

  /** What the script sends after `navigator.credentials.get`. */
  get(options: { challenge: string; rpId: string }, deviation: Deviation = {}): string {
    if (this.counter > 0) this.counter++
    const data = this.#data(deviation.rpId ?? options.rpId, deviation)
    const clientData = this.#clientData('webauthn.get', options.challenge, deviation)
    const signed = Buffer.concat([data, sha256(Buffer.from(clientData, 'base64url'))])
    return JSON.stringify({
      id: base64url(this.id),
      rawId: base64url(this.id),
      type: 'public-key',
      response: {
        clientDataJSON: clientData,
        authenticatorData: base64url(data),
        signature: base64url(sign('sha256', signed, deviation.otherKey === true ? this.#other : this.#key)),
        userHandle: deviation.userHandle === undefined ? this.userHandle : deviation.userHandle,
      },
    })
  }

  #clientData(type: string, challenge: string, deviation: Deviation): string {
    return base64url(
      Buffer.from(
        JSON.stringify({
          type: deviation.type ?? type,
          challenge: deviation.challenge ?? challenge,
          origin: deviation.origin ?? this.#origin,
          crossOrigin: false,
        }),
      ),
    )
  }

  #data(rpId: string, deviation: Deviation, credential?: Buffer): Buffer {
    const { userPresent = true, userVerified = true, counter = this.counter } = deviation
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    const flags = (userPresent ? 1 : 0) + (userVerified ? 4 : 0) + (credential ? 64 : 0)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, ...(credential ? [credential] : [])])
  }
}
