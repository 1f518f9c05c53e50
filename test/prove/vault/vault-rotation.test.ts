import { program } from './vault-rotation.ts'
import { short } from '../short.ts'

await short('vault-rotation', program)
