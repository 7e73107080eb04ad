import {
  ColumnNode,
  OperationNodeTransformer,
  type KyselyPlugin,
  type OnConflictNode,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryResult,
  type RootOperationNode,
  type UnknownRow,
} from 'kysely'

/** Every unique key begins with the library: so do the columns that an upsert names. */
class LibraryKey extends OperationNodeTransformer {
  protected override transformOnConflict(node: OnConflictNode): OnConflictNode {
    const { columns, ...rest } = super.transformOnConflict(node)
    return columns ? { ...rest, columns: [ColumnNode.create('library_id'), ...columns] } : rest
  }
}

const transformer = new LibraryKey()

export const libraryKeyPlugin: KyselyPlugin = {
  transformQuery: ({ node }: PluginTransformQueryArgs): RootOperationNode => transformer.transformNode(node),
  transformResult: async ({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> => result,
}
