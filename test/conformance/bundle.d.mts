export function bundle(
  ...entryPoints: string[]
): Promise<{ file(entryPoint: string): string; remove(): void }>
