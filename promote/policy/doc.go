// Package policy evaluates ValidatingAdmissionPolicy files on rendered objects,
// with the API server's own CEL environment, cost limits and matching, so that
// a commit is known to be denied before it is made.
//
// What only a cluster knows is not there: parameters, the authorizer, who asks,
// and a namespace's labels. A policy that needs one of them is bad input; none
// is evaluated without it.
//
// All of it works apart, where time and memory are bounded: policies may come with
// a pull request.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
package policy
