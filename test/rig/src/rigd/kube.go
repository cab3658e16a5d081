package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

type object = map[string]any

// kube calls an API server, as the user of a client certificate.
type kube struct {
	server string
	client *http.Client
}

func connect(server, caFile, certFile, keyFile string) (*kube, error) {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}
	return &kube{server, &http.Client{Transport: &http.Transport{TLSClientConfig: config}}}, nil
}

// request sends a request and returns the body of a 2xx response, which the caller closes.
func (k *kube) request(ctx context.Context, method, path string, patch any) (io.ReadCloser, error) {
	var body io.Reader
	if patch != nil {
		text, err := json.Marshal(patch)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, k.server+path, body)
	if err != nil {
		return nil, err
	}
	if patch != nil {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		message, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, message)
	}
	return response.Body, nil
}

func (k *kube) get(ctx context.Context, path string, into any) error {
	body, err := k.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	return json.NewDecoder(body).Decode(into)
}

func (k *kube) patch(ctx context.Context, path string, patch any) error {
	body, err := k.request(ctx, http.MethodPatch, path, patch)
	if err != nil {
		return err
	}
	return body.Close()
}
