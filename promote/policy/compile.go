package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/acme/knative-promote/internal/oneline"
)

// compiled are the expressions of a policy.
type compiled struct {
	conditions  cel.Filter // of spec.matchConditions
	validations cel.Filter // of spec.validations
	messages    cel.Filter // their messageExpressions, those that have none left out
}

// An expression is one text of CEL, where it stands, and what it gives.
type expression struct {
	name  string // of a variable
	field string
	text  string
	gives *celgo.Type
}

// GetName is the variable's name.
func (e expression) GetName() string { return e.name }

// GetExpression is the text.
func (e expression) GetExpression() string { return e.text }

// ReturnTypes are the types that it may give.
func (e expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{e.gives} }

// baseEnvironment is the API server's CEL. The cost of its libraries counts as
// in newer versions, so that no expression takes long.
var baseEnvironment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion(), true)
})

// declared says which variables there are beside object, oldObject, request and
// variables: neither params nor authorizer.
var declared = cel.OptionalVariableDeclarations{StrictCost: true}

// compile compiles a policy. The error names the field and says what is wrong
// with its expression.
func compile(spec admissionv1.ValidatingAdmissionPolicySpec) (compiled, error) {
	compiler, err := cel.NewCompositedCompiler(baseEnvironment())
	if err != nil {
		return compiled{}, err
	}
	for i, v := range spec.Variables {
		e := expression{v.Name, fmt.Sprintf("spec.variables[%d].expression", i), v.Expression, celgo.AnyType}
		if err := e.refused(compiler.CompileAndStoreVariable(e, declared, environment.StoredExpressions)); err != nil {
			return compiled{}, err
		}
	}
	var all [3][]cel.ExpressionAccessor // conditions, validations, messages
	for i, c := range spec.MatchConditions {
		all[0] = append(all[0], expression{field: fmt.Sprintf("spec.matchConditions[%d].expression", i), text: c.Expression, gives: celgo.BoolType})
	}
	for i, v := range spec.Validations {
		all[1] = append(all[1], expression{field: fmt.Sprintf("spec.validations[%d].expression", i), text: v.Expression, gives: celgo.BoolType})
		all[2] = append(all[2], nil)
		if v.MessageExpression != "" {
			all[2][i] = expression{field: fmt.Sprintf("spec.validations[%d].messageExpression", i), text: v.MessageExpression, gives: celgo.StringType}
		}
	}
	var filters [3]cel.Filter
	for i, accessors := range all {
		if filters[i], err = filter(compiler, accessors); err != nil {
			return compiled{}, err
		}
	}
	return compiled{filters[0], filters[1], filters[2]}, nil
}

// filter compiles expressions, those that are nil left out.
func filter(compiler *cel.CompositedCompiler, accessors []cel.ExpressionAccessor) (cel.Filter, error) {
	for _, accessor := range accessors {
		if e, there := accessor.(expression); there {
			if err := e.refused(compiler.CompileCELExpression(e, declared, environment.StoredExpressions)); err != nil {
				return nil, err
			}
		}
	}
	return compiler.Compile(accessors, declared, environment.StoredExpressions), nil
}

var (
	namespaceObject = regexp.MustCompile(`\bnamespaceObject\b`)
	userInfo        = regexp.MustCompile(`\brequest\s*\.\s*userInfo\b`)
	undeclared      = regexp.MustCompile(`undeclared reference to '(params|authorizer)`)
)

// refused is why an expression cannot be evaluated; nil: it can.
func (e expression) refused(result cel.CompilationResult) error {
	err := error(nil)
	if result.Error != nil {
		err = result.Error
	}
	switch unknown := undeclared.FindStringSubmatch(fmt.Sprint(err)); {
	case unknown != nil && unknown[1] == "params":
		err = errParams
	case unknown != nil:
		err = errAuthorizer
	case err != nil:
		err = errors.New(oneline.Of(strings.TrimPrefix(result.Error.Detail, "compilation failed: "), 500))
	case namespaceObject.MatchString(e.text):
		err = errNamespace
	case userInfo.MatchString(e.text):
		err = errUser
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.field, err)
	}
	return nil
}
