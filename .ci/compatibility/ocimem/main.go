// Serves an empty registry in memory on a free port of loopback, by the library of CUE, and prints its address.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening on", listener.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(listener, ociserver.New(ocimem.New(), nil)))
	os.Exit(1)
}
