import { program } from './presets.ts'
import { short } from '../short.ts'

await short('presets', program)
