package condition

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// What an expression may be and need.
const (
	maxCondition = 4 << 10 // bytes of its text
	maxNodes     = 1000    // nodes of its syntax tree
	maxElements  = 100_000 // elements of the lists that it makes
	maxMade      = 4 << 20 // bytes and elements of what the functions that it calls make
)

// The names of our functions in a patched expression. Nobody can write them, as
// no name has a blank.
const (
	inTime  = "in time"
	plus    = "bounded sum"
	counted = "counted result"
)

// bounds add to an expression what expr does not bound itself: loops within loops
// take any time, a text that is added to itself doubles each time, and functions
// make new texts and lists in each round.
type bounds struct {
	ctx  context.Context // of the evaluation; expr's visitors have no parameters
	made int
}

// options put the bounds in place. Three functions that make long texts of short
// ones are not there at all, two others are our own.
func (b *bounds) options() []expr.Option {
	return []expr.Option{
		expr.MaxNodes(maxNodes),
		expr.Optimize(false), // it computes constants, such as long ranges, without bounds
		expr.Patch(b),
		expr.Function(inTime, b.inTime),
		expr.Function(plus, b.plus),
		expr.Function(counted, b.counted),
		expr.DisableBuiltin("repeat"),
		expr.DisableBuiltin("join"),
		expr.DisableBuiltin("toJSON"),
		expr.DisableBuiltin("replace"),
		expr.Function("replace", replace, new(func(string, string, string) string)),
		expr.DisableBuiltin("string"),
		expr.Function("string", text, new(func(any) string)),
	}
}

// Visit has each round of a loop look at the context first, and counts what
// additions and functions make.
func (b *bounds) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		n.Node = call(inTime, n.Node)
	case *ast.BinaryNode:
		if n.Operator == "+" && !isScalar(n) {
			ast.Patch(node, call(plus, n.Left, n.Right))
		}
	case *ast.BuiltinNode:
		if !isScalar(n) {
			ast.Patch(node, call(counted, n))
		}
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok && (name.Value == "replace" || name.Value == "string") {
			ast.Patch(node, call(counted, n))
		}
	}
}

func call(name string, arguments ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments}
}

// isScalar tells whether a node is known to give a number or a bool.
func isScalar(node ast.Node) bool {
	t := node.Type()
	return t != nil && reflect.Bool <= t.Kind() && t.Kind() <= reflect.Float64
}

func (b *bounds) inTime(arguments ...any) (any, error) {
	if b.ctx.Err() != nil {
		return nil, fmt.Errorf("it did not end: %w", context.Cause(b.ctx))
	}
	return arguments[0], nil
}

func (b *bounds) plus(arguments ...any) (any, error) {
	return b.counted(runtime.Add(arguments[0], arguments[1]))
}

func (b *bounds) counted(arguments ...any) (any, error) {
	switch v := reflect.ValueOf(arguments[0]); v.Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
		if b.made += v.Len(); b.made > maxMade {
			return nil, errors.New("it makes too many or too long texts and lists")
		}
	}
	return arguments[0], nil
}

// replace is expr's, with a bound.
func replace(arguments ...any) (any, error) {
	in, before, after := arguments[0].(string), arguments[1].(string), arguments[2].(string)
	if len(in)+strings.Count(in, before)*len(after) > maxMade {
		return nil, errors.New("replace makes a text that is too long")
	}
	return strings.ReplaceAll(in, before, after), nil
}

// text is expr's string, for anything but lists and objects.
func text(arguments ...any) (any, error) {
	switch reflect.ValueOf(arguments[0]).Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return nil, fmt.Errorf("string: expected a number, a bool or a text, but there is %T", arguments[0])
	}
	return fmt.Sprintf("%v", arguments[0]), nil
}
