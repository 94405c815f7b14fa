package argo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxMessage bounds one answer. Argo CD allows itself 200 MB; the Application with
// thousands of resources that was measured has 5 MB.
const maxMessage = 64 << 20

// A grpcWeb makes gRPC calls as grpc-web.
type grpcWeb struct {
	http connect.HTTPClient
	base string
}

// newConn is a connection for argo-cd's generated clients, which insist on the concrete
// type *grpc.ClientConn. Its interceptors make every call themselves and never call
// on, so it does not dial.
func newConn(c *grpcWeb, calls *retry) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+c.base,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			return nil, errors.New("this connection does not dial")
		}),
		grpc.WithChainUnaryInterceptor(calls.unary, c.unary),
		grpc.WithStreamInterceptor(c.stream))
}

func (c *grpcWeb) client(method string) *connect.Client[frame, frame] {
	return connect.NewClient[frame, frame](c.http, c.base+method,
		connect.WithGRPCWeb(),
		connect.WithCodec(codec{}),
		connect.WithReadMaxBytes(maxMessage),
		connect.WithAcceptCompression("gzip", nil, nil))
}

func (c *grpcWeb) unary(ctx context.Context, method string, req, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
	data, err := marshal(req)
	if err != nil {
		return err
	}
	resp, err := c.client(method).CallUnary(ctx, connect.NewRequest(&frame{data}))
	if err != nil {
		return statusOf(err)
	}
	if err := unmarshal(resp.Msg.data, reply); err != nil {
		return err
	}
	fillNewerFields(resp.Msg.data, reply)
	return nil
}

func (c *grpcWeb) stream(ctx context.Context, _ *grpc.StreamDesc, _ *grpc.ClientConn, method string, _ grpc.Streamer, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &serverStream{ctx: ctx, client: c.client(method)}, nil
}

// A serverStream is a call with one request and many answers, as grpc's generated code
// drives it.
type serverStream struct {
	ctx    context.Context
	client *connect.Client[frame, frame]
	open   *connect.ServerStreamForClient[frame]
}

// SendMsg sends the only request.
func (s *serverStream) SendMsg(req any) error {
	data, err := marshal(req)
	if err != nil {
		return err
	}
	s.open, err = s.client.CallServerStream(s.ctx, connect.NewRequest(&frame{data}))
	return statusOf(err)
}

// RecvMsg reads the next answer, io.EOF after the last.
func (s *serverStream) RecvMsg(reply any) error {
	if s.open == nil {
		return status.Error(codes.Internal, "receiving before sending")
	}
	if !s.open.Receive() {
		err := s.open.Err()
		s.open.Close()
		if err == nil {
			return io.EOF
		}
		return statusOf(err)
	}
	return unmarshal(s.open.Msg().data, reply)
}

func (s *serverStream) CloseSend() error             { return nil }
func (s *serverStream) Context() context.Context     { return s.ctx }
func (s *serverStream) Header() (metadata.MD, error) { return nil, nil }
func (s *serverStream) Trailer() metadata.MD         { return nil }

// statusOf makes grpc's error of connect's.
func statusOf(err error) error {
	var e *connect.Error
	if errors.As(err, &e) {
		return status.Error(codes.Code(e.Code()), e.Message())
	}
	return err
}

// A frame is a message as it is on the wire. Argo CD's messages are made with gogo
// protobuf, which connect's own codec does not take.
type frame struct{ data []byte }

type codec struct{}

func (codec) Name() string { return proto.Name }

func (codec) Marshal(v any) ([]byte, error) {
	if f, ok := v.(*frame); ok {
		return f.data, nil
	}
	return marshal(v)
}

// Unmarshal also reads the details of an error, which are no frame.
func (codec) Unmarshal(data []byte, v any) error {
	if f, ok := v.(*frame); ok {
		f.data = bytes.Clone(data)
		return nil
	}
	return unmarshal(data, v)
}

// marshal and unmarshal are grpc-go's, so messages are read as over native gRPC.
func marshal(v any) ([]byte, error) {
	data, err := encoding.GetCodecV2(proto.Name).Marshal(v)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	defer data.Free()
	return data.Materialize(), nil
}

func unmarshal(data []byte, v any) error {
	if err := encoding.GetCodecV2(proto.Name).Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, v); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}
