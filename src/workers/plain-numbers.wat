;; The WebAssembly of plain-numbers.ts. `node tools/wat.mjs` generates plain-numbers-code.ts from this file.
;;
;; The code checks sixteen bytes together. Each byte has one class:
;;
;;     1  a space or a line break
;;     2  ,
;;     4  -
;;     8  .
;;    16  a digit
;;
;; The low four bits of a byte tell its class once the byte is known to be one of `,-.0123456789`, a space or
;; a line break. A space, 0x20, is treated as a line break, 0x0a; no two of the others have the same low bits.
;; So the low bits are the index of three tables of sixteen lanes:
;;
;;     low bits            0  1  2  3  4  5  6  7  8  9  a   b  c  d  e  f
;;     byte                0  1  2  3  4  5  6  7  8  9  \n     ,  -  .
;;     class              16 16 16 16 16 16 16 16 16 16  1   0  2  4  8  0
;;     classes before it  31 31 31 31 31 31 31 31 31 31  3   0 16  3 16  0
;;
;; The last table: a digit may follow each class (31); a minus and white space follow white space or a comma
;; (3); a comma and a point follow a digit (16).
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
    ;; The first byte counts as if a comma stood before it.
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

      ;; The run ends before this step unless each lane of the vector is above 0.
      (if
        (i32.eqz
          (i8x16.all_true
            (v128.andnot
              ;; Above 0 where the byte has a class, and the byte before it has an allowed one.
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
              ;; A point follows the first digit of a number, and follows nothing else: a lane is at fault
              ;; when one of the two facts holds without the other. The first digit of a number follows
              ;; white space, a comma or a minus (1 | 2 | 4 = 7).
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
