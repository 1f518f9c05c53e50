;; The WebAssembly of plain-numbers.ts. `node tools/wat.mjs` makes plain-numbers-code.ts of it.
;;
;; Sixteen bytes are looked at together. Each byte is of one class, a bit:
;;
;;     1  a space or a line break
;;     2  ,
;;     4  -
;;     8  .
;;    16  a digit
;;
;; The low four bits of a byte tell its class once the byte is known to be one of `,-.0123456789` or a line
;; break. A space, 0x20, is taken for a line break, 0x0a: no two of the bytes that are left have the same low
;; bits. So three tables of sixteen lanes are indexed by the low bits:
;;
;;     low bits        0  1  2  3  4  5  6  7  8  9  a   b  c  d  e  f
;;     byte            0  1  2  3  4  5  6  7  8  9  \n     ,  -  .
;;     class          16 16 16 16 16 16 16 16 16 16  1   0  2  4  8  0
;;     may stand      31 31 31 31 31 31 31 31 31 31  3   0 16  3 16  0
;;     before it
;;
;; A digit may stand behind each class (31), white space behind white space and commas (3), a comma and a point
;; behind a digit (16), a minus behind white space and commas (3).
(module
  (memory (export "memory") 1 1)

  ;; @param at   where a number begins, or white space before it
  ;; @param end  behind the last byte
  ;; @returns    behind the last step whose bytes all fit to the two bytes before them
  (func (export "run") (param $at i32) (param $end i32) (result i32)
    (local $low v128)
    (local $classes v128)
    (local $last v128)
    (local $before v128)
    ;; What is read begins as if a comma stood before it.
    (local.set $last (v128.const i8x16 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2))
    (loop $step
      (if (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end))
        (then (return (local.get $at))))

      ;; $before: the bytes, with spaces as line breaks (0x20 ^ 0x2a = 0x0a); $low: their low bits.
      (local.set $low
        (v128.and
          (local.tee $before
            (v128.xor
              (local.tee $low (v128.load align=1 (local.get $at)))
              (v128.and
                (i8x16.eq
                  (local.get $low)
                  (v128.const i32x4 0x20202020 0x20202020 0x20202020 0x20202020))
                (v128.const i32x4 0x2a2a2a2a 0x2a2a2a2a 0x2a2a2a2a 0x2a2a2a2a))))
          (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))

      ;; $classes: 0 for each byte that is not the byte of its low bits.
      (local.set $classes
        (v128.and
          (i8x16.eq
            (i8x16.swizzle
              (v128.const i8x16
                0x30 0x31 0x32 0x33 0x34 0x35 0x36 0x37 0x38 0x39 0x0a 0x00 0x2c 0x2d 0x2e 0x00)
              (local.get $low))
            (local.get $before))
          (i8x16.swizzle
            (v128.const i8x16 16 16 16 16 16 16 16 16 16 16 1 0 2 4 8 0)
            (local.get $low))))

      ;; The step ends the run unless each lane is above 0 here.
      (if
        (i32.eqz
          (i8x16.all_true
            (v128.andnot
              ;; Above 0 where the class is, and where the class of the byte before it may stand there.
              (i8x16.min_u
                (local.get $classes)
                (v128.and
                  ;; $before: the class of the byte before each.
                  (local.tee $before
                    (i8x16.shuffle 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
                      (local.get $last)
                      (local.get $classes)))
                  (i8x16.swizzle
                    (v128.const i8x16 31 31 31 31 31 31 31 31 31 31 3 0 16 3 16 0)
                    (local.get $low))))
              ;; Behind the first digit of a number stands a point, and behind nothing else: lanes of which
              ;; one side alone holds are at fault. The first digit is a digit behind white space, a comma or
              ;; a minus (1 | 2 | 4 = 7).
              (v128.xor
                (v128.and
                  (i8x16.eq
                    (local.get $before)
                    (v128.const i8x16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16))
                  (i8x16.ne
                    (v128.and
                      (i8x16.shuffle 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
                        (local.get $last)
                        (local.get $classes))
                      (v128.const i8x16 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7))
                    (v128.const i8x16 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0)))
                (i8x16.eq
                  (local.get $classes)
                  (v128.const i8x16 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8))))))
        (then (return (local.get $at))))

      (local.set $last (local.get $classes))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $step))
    unreachable))
