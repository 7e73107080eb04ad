import facts from '../../package.json' with { type: 'json' }

/** Of the installed package. */
export const VERSION: string = facts.version
