package argo

import (
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/protobuf/encoding/protowire"
)

// The path to what Argo CD 3.1 added to an automated sync policy, in the field numbers of
// https://github.com/argoproj/argo-cd/blob/v3.5.7/pkg/apis/application/v1alpha1/generated.proto
const (
	applicationSpec  protowire.Number = 2
	specSyncPolicy   protowire.Number = 4
	policyAutomated  protowire.Number = 1
	automatedEnabled protowire.Number = 4
)

// fillNewerFields adds to an answer what it says on the wire and what its type, which is that of
// Argo CD 2.14, has no field for. An automated sync policy can be there and switched off
// since Argo CD 3.1 (https://github.com/argoproj/argo-cd/pull/21999): then it is none. A
// project can say since 3.5, per repository, whose commits it wants.
func fillNewerFields(answer []byte, reply any) {
	if project, ok := reply.(*v1alpha1.AppProject); ok {
		keepIntegrity(answer, project)
	}
	app, ok := reply.(*v1alpha1.Application)
	if !ok || !Automated(app) {
		return
	}
	policy := embedded(embedded(embedded(answer, applicationSpec), specSyncPolicy), policyAutomated)
	if enabled, told := varint(policy, automatedEnabled); told && enabled == 0 {
		app.Spec.SyncPolicy.Automated = nil
	}
}

// embedded is the message in a field of a message. A field that is there twice is both
// of them merged, for which it is enough to join them
// (https://protobuf.dev/programming-guides/encoding/#last-one-wins).
func embedded(message []byte, field protowire.Number) []byte {
	var joined []byte
	each(message, func(number protowire.Number, kind protowire.Type, value []byte) {
		if number == field && kind == protowire.BytesType {
			part, _ := protowire.ConsumeBytes(value)
			joined = append(joined, part...)
		}
	})
	return joined
}

// varint is the number in a field of a message, and whether there is one.
func varint(message []byte, field protowire.Number) (last uint64, told bool) {
	each(message, func(number protowire.Number, kind protowire.Type, value []byte) {
		if number == field && kind == protowire.VarintType {
			last, _ = protowire.ConsumeVarint(value)
			told = true
		}
	})
	return last, told
}

// each calls visit for the fields of a message, as far as it is one.
func each(message []byte, visit func(protowire.Number, protowire.Type, []byte)) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return
		}
		visit(number, kind, message[tag:tag+length])
		message = message[tag+length:]
	}
}
