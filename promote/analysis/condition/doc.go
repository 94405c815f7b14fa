// Package condition says of one measured result what the successCondition and
// the failureCondition of an Argo Rollouts metric make of it. It is pure.
//
// The conditions are expressions of github.com/expr-lang/expr over the variable
// result, with the functions asInt, asFloat, isNaN, isInf, isNil and default, and
// they are read as Argo Rollouts reads them:
// https://github.com/argoproj/argo-rollouts/blob/v1.8.5/utils/evaluate/evaluate.go.
//
// # Where it differs
//
// A result without data (nothing, an empty list, object or text, or a list in
// which a number is NaN) is [NoData], whatever the conditions make of it. With
// Argo Rollouts such a result passes where no comparison with it is true, and a
// candidate that nobody could measure is promoted. Conditions that ask for it
// themselves are taken at their word: isNaN for NaN, and len, isNil, default or
// a comparison with an empty text for the others. What Argo Rollouts would have
// said stands beside.
//
// # Bounds
//
// The files are written by others, and an expression is a program. Its text, its
// nodes, its lists and its texts are bounded, and a loop ends with the context.
// expr's functions repeat, join and toJSON, which make long texts of short ones,
// are not there.
package condition
