// SPDX-License-Identifier: Apache-2.0

// stops.go is stopped by gdb at many instructions: goroutines whose stacks grow, that defer, panic, lock and collect.
package main

import (
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

type shape interface{ area(n int) int }
type square struct{ side int }
type circle struct{ radius int }

var total int
var mutex sync.Mutex

//go:noinline
func (s *square) area(n int) int { return s.side*s.side + n }

//go:noinline
func (c circle) area(n int) int { return 3*c.radius*c.radius - n }

//go:noinline
func leaf(n int) int { return n*31 + n>>3 }

//go:noinline
func spin(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += leaf(i)
	}
	return sum
}

//go:noinline
func deep(n int) int {
	var room [40]int
	room[n%40] = n
	if n == 0 {
		return spin(50)
	}
	return deep(n-1) + room[n%40]
}

//go:noinline
func recovers(n int) (result int) {
	defer func() { result += recover().(int) }()
	panic(leaf(n))
}

//go:noinline
func sorts(n int) int {
	words := strings.Fields(strings.Repeat("b a d c ", n))
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	counts := map[string]int{}
	for _, word := range words {
		counts[word]++
	}
	return counts["a"]
}

//go:noinline
func rounds(worker int) {
	shapes := []shape{&square{3}, circle{4}}
	for {
		now := time.Now().Nanosecond() & 15
		sum := spin(200) + deep(40+now) + recovers(now) + sorts(10) + shapes[now&1].area(now)
		done := make(chan int)
		go func() { done <- deep(90) }()
		sum += <-done
		mutex.Lock()
		total += sum
		mutex.Unlock()
		if now == 0 {
			runtime.GC()
		}
	}
}

func main() {
	// ITIMER_VIRTUAL, which tells gdb to stop the program wherever it is.
	timer := [4]int64{0, 1000, 0, 1000}
	syscall.RawSyscall(syscall.SYS_SETITIMER, 1, uintptr(unsafe.Pointer(&timer)), 0)
	go rounds(1)
	rounds(0)
}
