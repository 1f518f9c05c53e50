;; The WebAssembly of automaton.ts. `node tools/wat.mjs` generates automaton-code.ts from this file.
;;
;; Reads bytes by a table of states, and searches bytes. The memory, whose places automaton.ts names too:
;;
;;     0x00000  registers of 32 bits: state, depth, count, action, deepest level
;;     0x00020  for each action the state after it, at the action's number
;;     0x00100  the kinds of the open levels, a byte for each
;;     0x02a00  tables, and the two vectors of each state
;;     0x10000  the bytes that are read; up to sixteen more are loaded
;;     0x40000  the table of pairs: an entry for each pair of bytes
(module
  (memory (export "memory") 5 5)

  ;; @param table  place of the entries, 256 for each state
  ;; @param skips  place of the vectors, 32 bytes for each state
  ;; @param at     place of the first byte
  ;; @param end    the place after the last byte
  ;; @returns      place of the byte with the action that the register names, or the end with action 0
  (func (export "run") (param $table i32) (param $skips i32) (param $at i32) (param $end i32) (result i32)
    (local $state i32)
    (local $row i32)
    (local $next i32)
    (local $depth i32)
    (local $count i32)
    (local $stops i32)
    (local $counted i32)
    (local $low v128)
    (local $high v128)
    (local $bytes v128)
    (local.set $state (i32.load (i32.const 0)))
    (local.set $depth (i32.load offset=4 (i32.const 0)))
    (local.set $count (i32.load offset=8 (i32.const 0)))
    (block $over
      (loop $read
        (local.set $row (i32.add (local.get $table) (i32.shl (local.get $state) (i32.const 8))))
        (local.set $next (i32.const 0))
        (br_if $over (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $next (i32.load8_u (i32.add (local.get $row) (i32.load8_u (local.get $at)))))

        ;; A byte that changes the state.
        (if
          (i32.and (i32.lt_u (local.get $next) (i32.const 64)) (i32.ne (local.get $next) (local.get $state)))
          (then
            (local.set $state (local.get $next))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $read)))

        ;; A byte that does not: most of a text is made of such bytes, and sixteen are read together. A byte
        ;; may change the state where its low and its high half have a bit in common. The highest bit is that
        ;; of bytes that are only counted.
        (if (i32.eq (local.get $next) (local.get $state))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            ;; Vectors are for two such bytes and more.
            (br_if $read (i32.ge_u (local.get $at) (local.get $end)))
            (br_if $read
              (i32.ne
                (i32.load8_u (i32.add (local.get $row) (i32.load8_u (local.get $at))))
                (local.get $state)))
            (local.set $low
              (v128.load align=1 (i32.add (local.get $skips) (i32.shl (local.get $state) (i32.const 5)))))
            (local.set $high
              (v128.load offset=16 align=1
                (i32.add (local.get $skips) (i32.shl (local.get $state) (i32.const 5)))))
            (block $skipped
              (loop $skip
                (br_if $skipped (i32.ge_u (local.get $at) (local.get $end)))
                (local.set $bytes (v128.load align=1 (local.get $at)))
                (local.set $bytes
                  (v128.and
                    (i8x16.swizzle
                      (local.get $low)
                      (v128.and
                        (local.get $bytes)
                        (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))
                    (i8x16.swizzle
                      (local.get $high)
                      (i8x16.shr_u (local.get $bytes) (i32.const 4)))))
                (local.set $counted (i8x16.bitmask (local.get $bytes)))
                (local.set $stops
                  (i8x16.bitmask (i8x16.gt_s (local.get $bytes) (v128.const i32x4 0 0 0 0))))
                ;; The end is a stop, too.
                (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 16))
                  (then
                    (local.set $stops
                      (i32.or
                        (local.get $stops)
                        (i32.shl (i32.const 1) (i32.sub (local.get $end) (local.get $at)))))))
                (if (i32.eqz (local.get $stops))
                  (then
                    (local.set $at (i32.add (local.get $at) (i32.const 16)))
                    (local.set $count (i32.add (local.get $count) (i32.popcnt (local.get $counted))))
                    (br $skip))))
              (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $stops))))
              ;; Only the bytes before the stop count: the lowest bit of all stops, less one, is all bits below.
              (local.set $count
                (i32.add
                  (local.get $count)
                  (i32.popcnt
                    (i32.and
                      (local.get $counted)
                      (i32.and
                        (i32.xor (local.get $stops) (i32.const -1))
                        (i32.sub (local.get $stops) (i32.const 1))))))))
            ;; Behind a byte that was counted the state is that after the action.
            (if
              (i32.eq
                (i32.load8_u
                  (i32.add
                    (local.get $row)
                    (i32.load8_u (i32.sub (local.get $at) (i32.const 1)))))
                (i32.const 71))
              (then (local.set $state (i32.load8_u offset=0x20 (i32.const 71)))))
            (br $read)))

        ;; An action. It ends the run unless it only counts, or stays within the open level.
        (if (i32.eq (local.get $next) (i32.const 71))
          (then (local.set $count (i32.add (local.get $count) (i32.const 1))))
          (else
            (br_if $over (i32.gt_u (local.get $next) (i32.const 68)))
            (br_if $over (i32.eqz (local.get $depth)))
            (if (i32.eq (local.get $next) (i32.const 68))
              (then
                ;; A comma: the level's kind, 1 or 2, gives the state after it.
                (local.set $next
                  (i32.add
                    (local.get $next)
                    (i32.load8_u offset=0xff (local.get $depth)))))
              (else
                (if (i32.lt_u (local.get $next) (i32.const 66))
                  (then
                    (br_if $over
                      (i32.ge_u (local.get $depth) (i32.load offset=16 (i32.const 0))))
                    (i32.store8 offset=0x100
                      (local.get $depth)
                      (i32.sub (local.get $next) (i32.const 63)))
                    (local.set $depth (i32.add (local.get $depth) (i32.const 1))))
                  (else
                    (br_if $over (i32.eq (local.get $depth) (i32.const 1)))
                    (br_if $over
                      (i32.ne
                        (i32.load8_u offset=0xff (local.get $depth))
                        (i32.sub (local.get $next) (i32.const 65))))
                    (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))))))))
        (local.set $state (i32.load8_u offset=0x20 (local.get $next)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $read)))
    (i32.store (i32.const 0) (local.get $state))
    (i32.store offset=4 (i32.const 0) (local.get $depth))
    (i32.store offset=8 (i32.const 0) (local.get $count))
    (i32.store offset=12 (i32.const 0) (local.get $next))
    (local.get $at))

  ;; @param at   every fourth place from here on is looked up
  ;; @param end  the place after the last one
  ;; @returns    the first place with a pair that has an entry; else not below the end
  (func (export "pair") (param $at i32) (param $end i32) (result i32)
    (block $found
      (loop $four
        (br_if $found (i32.lt_s (i32.sub (local.get $end) (local.get $at)) (i32.const 16)))
        (br_if $found
          (i32.or
            (i32.or
              (i32.load8_u offset=0x40000 (i32.load16_u (local.get $at)))
              (i32.load8_u offset=0x40000 (i32.load16_u offset=4 (local.get $at))))
            (i32.or
              (i32.load8_u offset=0x40000 (i32.load16_u offset=8 (local.get $at)))
              (i32.load8_u offset=0x40000 (i32.load16_u offset=12 (local.get $at))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $four)))
    (block $over
      (loop $one
        (br_if $over (i32.ge_u (local.get $at) (local.get $end)))
        (br_if $over (i32.load8_u offset=0x40000 (i32.load16_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $one)))
    (local.get $at))

  ;; @param one    four bytes, the lowest first
  ;; @param other  four bytes that begin with the same two
  ;; @returns      the first place from $at on with one of them; else not below the end
  (func (export "word") (param $at i32) (param $end i32) (param $one i32) (param $other i32) (result i32)
    (local $found i32)
    (local $place i32)
    (local $word i32)
    (block $over
      (loop $step
        (br_if $over (i32.ge_u (local.get $at) (local.get $end)))
        ;; Where the two bytes are that both begin with.
        (local.set $found
          (i8x16.bitmask
            (v128.and
              (i8x16.eq (v128.load align=1 (local.get $at)) (i8x16.splat (local.get $one)))
              (i8x16.eq
                (v128.load offset=1 align=1 (local.get $at))
                (i8x16.splat (i32.shr_u (local.get $one) (i32.const 8)))))))
        (block $checked
          (loop $check
            (br_if $checked (i32.eqz (local.get $found)))
            (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $found))))
            (local.set $word (i32.load align=1 (local.get $place)))
            (if
              (i32.or
                (i32.eq (local.get $word) (local.get $one))
                (i32.eq (local.get $word) (local.get $other)))
              (then (return (local.get $place))))
            (local.set $found
              (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
            (br $check)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $step)))
    (local.get $at)))
