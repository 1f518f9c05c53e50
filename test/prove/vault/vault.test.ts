import { short } from '../short.ts'
import { program } from './vault.ts'

await short('vault', program)
