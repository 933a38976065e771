package parser

// The limits on a text. They are far above what people write, and keep a
// hostile or broken text from taking the stack or the memory.
const (
	// MaxText is the size of a text in bytes.
	MaxText = 16 << 20
	// MaxTokens is the number of tokens of a text.
	MaxTokens = 4 << 20
	// MaxNesting is how deeply brackets, CASE, NOT, signs, types and queries
	// may be nested in one another.
	MaxNesting = 500
	// MaxHeight is the height of a tree. Chains such as a + b + c … lean to
	// the left, one level for each operator, and whoever walks the tree does
	// so by recursion.
	MaxHeight = 10_000
	// MaxErrors is how many mistakes are reported for one text.
	MaxErrors = 20

	// maxSkeletonNesting is how deeply one skeleton may be nested. sqlparser
	// gives up at 200 parentheses; a query below this depth gets a skeleton of
	// its own.
	maxSkeletonNesting = 50
)
