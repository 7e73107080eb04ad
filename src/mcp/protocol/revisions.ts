/** Protocol revisions served here, newest first. A new revision starts with an entry in one of these lists. */
export const MODERN_REVISIONS = ['2026-07-28'] as const
export const LEGACY_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Revisions in which every request carries its own metadata. */
export type ModernRevision = (typeof MODERN_REVISIONS)[number]
/** Revisions that open with `initialize`. */
export type LegacyRevision = (typeof LEGACY_REVISIONS)[number]
export type Revision = ModernRevision | LegacyRevision

/** What a client speaks that sends no `MCP-Protocol-Version` header (2025-03-26 had none). */
export const UNNAMED_REVISION: LegacyRevision = '2025-03-26'

export const isModern = (value: unknown): value is ModernRevision =>
  MODERN_REVISIONS.some((revision) => revision === value)

export const isLegacy = (value: unknown): value is LegacyRevision =>
  LEGACY_REVISIONS.some((revision) => revision === value)

/** `initialize` never fails on a version: the server offers its newest when it lacks the one asked for. */
export const negotiate = (asked: unknown): LegacyRevision => (isLegacy(asked) ? asked : LEGACY_REVISIONS[0])

/** Batches exist in one revision only. */
export const allowsBatch = (revision: Revision): boolean => revision === '2025-03-26'

/** Revisions are dates, so their order is that of the strings. */
export const before = (revision: Revision, other: Revision): boolean => revision < other

/** Keys of `_meta` that 2026-07-28 defines. */
export const META = {
  revision: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
} as const
