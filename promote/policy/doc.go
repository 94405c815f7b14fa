// Package policy evaluates ValidatingAdmissionPolicy files on rendered objects,
// with the API server's own CEL environment, cost limits and matching, so that
// a commit is known to be denied before it is made.
//
// What only a cluster knows is not there: parameters, the authorizer, who asks,
// and a namespace's labels. A policy that needs one of them is bad input; none
// is evaluated without it.
//
// Reading and compiling take the files, and evaluating takes objects: every
// function is pure but for the context that ends it.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
package policy
