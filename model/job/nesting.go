package job

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a job file and of other texts in its form. The parser calls itself for each level, and for
// each key of a mapping on lines of its own; its time and memory grow with the square of both. Those of
// the lexer do not, but its tokens take a hundred times the text: maxSigns bounds them before there is one.
const (
	maxJobFile = 256 << 10 // bytes
	maxSigns   = 40 << 10  // characters that may end or be a token
	maxDepth   = 64        // mappings and lists inside each other
	maxKeys    = 256       // in one mapping
)

// parseYAML parses a text within the bounds. The error of a text beyond them is a *beyond.
func parseYAML(text []byte) (*ast.File, error) {
	most := endOfSigns(text)
	tokens := lexer.Tokenize(string(text[:most]))
	if err := checkNesting(tokens); err != nil {
		return nil, err
	}
	if most < len(text) {
		message := fmt.Sprintf("more than %d bytes, or %d signs such as brackets and commas, which is no job file", maxJobFile, maxSigns)
		return nil, &beyond{yaml.SyntaxError{Message: message}}
	}
	return parser.Parse(tokens, 0)
}

// endOfSigns returns the length of the part of text that has at most maxJobFile bytes and maxSigns signs.
func endOfSigns(text []byte) int {
	text = text[:min(len(text), maxJobFile)]
	signs := 0
	for i, c := range text {
		if bytes.IndexByte([]byte("[]{},:?-!&*#|>%'\"\n"), c) < 0 {
			continue
		}
		if signs++; signs > maxSigns {
			return i
		}
	}
	return len(text)
}

// beyond is the error of a text that the parser does not get.
type beyond struct{ yaml.SyntaxError }

// A block is a mapping or a list on lines of its own that is open: what follows at a later column is
// inside it.
type block struct {
	at   int // twice the column, and 1 more for a list: the list of a key may begin at the key's column
	keys int
}

// checkNesting returns the error of the first token that is inside too many others, or is one key too
// many. Tags and anchors before a value, and explicit keys in brackets, are levels of the parser, too.
func checkNesting(tokens token.Tokens) error {
	var blocks []block
	brackets, marks := 0, 0
	for _, t := range tokens {
		at := 0
		switch t.Type {
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(brackets-1, 0)
		case token.SequenceEntryType:
			at = 2*t.Position.Column + 1
		case token.MappingKeyType:
			at = 2 * t.Position.Column
		case token.MappingValueType:
			key := t
			if t.Prev != nil && t.Prev.Position.Line == t.Position.Line {
				key = t.Prev
			}
			at = 2 * key.Position.Column
		}
		switch {
		case t.Type == token.TagType, t.Type == token.AnchorType, t.Type == token.MappingKeyType && brackets > 0:
			marks++
		default:
			marks = 0
		}
		if at > 0 && brackets == 0 {
			blocks = enter(blocks, at)
			if at%2 == 0 && blocks[len(blocks)-1].keys > maxKeys {
				return &beyond{yaml.SyntaxError{Message: fmt.Sprintf("more than %d keys in one mapping", maxKeys), Token: t}}
			}
		}
		if len(blocks)+brackets+marks > maxDepth {
			return &beyond{yaml.SyntaxError{Message: fmt.Sprintf("nested deeper than %d", maxDepth), Token: t}}
		}
	}
	return nil
}

// enter leaves the blocks that begin after at, and opens a block there or adds a key to it.
func enter(blocks []block, at int) []block {
	for len(blocks) > 0 && blocks[len(blocks)-1].at > at {
		blocks = blocks[:len(blocks)-1]
	}
	if len(blocks) == 0 || blocks[len(blocks)-1].at < at {
		blocks = append(blocks, block{at: at})
	}
	blocks[len(blocks)-1].keys++
	return blocks
}
