package condition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// evaluate asks the condition of a result.
func evaluate(ctx context.Context, condition string, result any) (bool, error) {
	env := functions(result)
	env["result"] = result
	program, err := compile(ctx, condition, expr.Env(env))
	if err != nil {
		return false, err
	}
	machine := vm.VM{MemoryBudget: maxElements}
	output, err := machine.Run(program, env)
	if err != nil {
		return false, plain(err)
	}
	value, ok := output.(bool)
	if !ok {
		return false, fmt.Errorf("expected true or false, but it gives a %T", output)
	}
	return value, nil
}

// compiles is nil if the condition is a yes or no about a result of the type.
func compiles(condition string, result types.Type) error {
	env := types.Map{"result": result}
	for name, function := range functions(nil) {
		env[name] = types.TypeOf(function)
	}
	_, err := compile(context.Background(), condition, expr.Env(env), expr.AsBool())
	return err
}

func compile(ctx context.Context, condition string, options ...expr.Option) (*vm.Program, error) {
	if len(condition) > maxCondition {
		return nil, fmt.Errorf("is %d bytes long, expected at most %d", len(condition), maxCondition)
	}
	bounds := bounds{ctx: ctx}
	program, err := expr.Compile(condition, append(options, bounds.options()...)...)
	if err != nil {
		return nil, plain(err)
	}
	return program, nil
}

// plain is the error without the excerpt of the condition, which is said anyway.
func plain(err error) error {
	var located *file.Error
	if errors.As(err, &located) {
		return errors.New(located.Message)
	}
	return err
}

// asksFor tells whether one of the conditions asks itself for results that lack
// something.
func (c Conditions) asksFor(what missing) bool {
	asked := calls{}
	for _, text := range []string{c.Success, c.Failure} {
		if len(text) > maxCondition {
			continue
		}
		if tree, err := parser.Parse(text); err == nil {
			ast.Walk(&tree.Node, &asked)
		}
	}
	if what == notANum {
		return slices.Contains(asked, "isNaN")
	}
	return slices.ContainsFunc(asked, func(name string) bool {
		return name == "len" || name == "isNil" || name == "default" || name == `""`
	})
}

// calls are the names of the functions that an expression calls, and `""` where
// it has an empty text.
type calls []string

// Visit notes what is called at a node.
func (c *calls) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			*c = append(*c, name.Value)
		}
	case *ast.BuiltinNode:
		*c = append(*c, n.Name)
	case *ast.StringNode:
		if n.Value == "" {
			*c = append(*c, `""`)
		}
	}
}

// errLoop ends the first round of a loop in a time.
var errLoop = errors.New("expected a time without loops")

// Time is what an expression such as now() - duration("5m") gives, with which a
// query over a time begins and ends. It has no loops, so that each of them ends.
func Time(expression string) (time.Time, error) {
	over, end := context.WithCancelCause(context.Background())
	end(errLoop)
	env := map[string]any{"isNaN": math.IsNaN, "isInf": func(f float64) bool { return math.IsInf(f, 0) }}
	program, err := compile(over, expression, expr.Env(env))
	if err != nil {
		return time.Time{}, err
	}
	machine := vm.VM{MemoryBudget: maxElements}
	output, err := machine.Run(program, env)
	if err != nil {
		return time.Time{}, plain(err)
	}
	at, ok := output.(time.Time)
	if !ok {
		return time.Time{}, fmt.Errorf("expected a time, but it gives a %T", output)
	}
	return at, nil
}
