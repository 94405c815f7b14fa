// Package forges is what the program does on a forge: the comment, statuses and deployments
// that follow a run, and the commits and pull requests of the infra repository.
package forges
